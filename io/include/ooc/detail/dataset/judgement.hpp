#pragma once

#include <ooc/detail/content/file_signature.hpp>
#include <ooc/source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ooc::detail {

struct ChunkTable;
struct RecordCodec;

/// An array of a file as its format describes it: which bytes are its data, and their type.
struct StoredArray {
  std::string name{};   // empty if the format gives its only array none
  std::string alias{};  // another name of it; empty: none
  DType type;
  std::string type_reason;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // for raw files not always a whole number of elements
  std::vector<std::uint64_t> shape{};
  std::string version{};
  bool by_columns = false;
  std::uint64_t bytes_behind = 0;                // behind the data of a .npy file
  std::string why_not{};                         // what it holds, if that cannot be read
  std::string hint{};                            // how it can be read all the same
  std::shared_ptr<const ChunkTable> chunks{};    // its data, if a helper program has found them
  std::shared_ptr<const RecordCodec> records{};  // how they are stored, unless as they are read
  std::filesystem::path file{};                  // that has its data; empty: that of its header
  // Elements that do not lie side by side are each a part of a record, at this offset in it.
  std::size_t record_bytes = 0, offset_in_record = 0;

  friend bool operator==(const StoredArray&, const StoredArray&) = default;
};

/// A dataset, with what its files say and look like.
struct Opened {
  Source source;  // if no array of several is named, all bytes behind the header
  std::vector<StoredArray> arrays{};         // of the first file, if they have names
  std::optional<FileSignature> signature{};  // foreign format that the first file begins like
  bool is_readable = true;                   // false if open() refuses the files by their look
};

/// The path of a file, and the name of an array in it; empty if it is not named.
struct Selector {
  std::filesystem::path path;
  std::string name;
};

/// Cuts `PATH::NAME` as open() does. A text that leads to no file stays whole, for the message.
Selector selector_of(const std::filesystem::path& whole);

/// Opens files as open() does, but refuses no format and guesses no type: data whose type is not
/// known are read as bytes.
Opened open_unjudged(std::span<const std::filesystem::path> paths, const Format& format);

/// True if the data of a raw file are taken for bytes only because neither the format nor the
/// extension gives a type.
bool type_is_default(const File& file, const Format& format);

}  // namespace ooc::detail
