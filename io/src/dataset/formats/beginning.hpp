#pragma once

#include <ooc/detail/content/file_signature.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/file/file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace ooc::detail {

/// The first bytes of a file, a part of one or a stream, read only as far as necessary. They reveal
/// the format of all of them in the same way.
class Beginning {
 public:
  explicit Beginning(const File& file);  ///< must outlive this object
  /// The beginning of the bytes [offset, offset + bytes) of a file, which must outlive this object.
  Beginning(const File& file, std::uint64_t offset, std::uint64_t bytes);
  /// The beginning of a stream, which must outlive this object. Reads no more after a stop request.
  Beginning(Producer& producer, std::stop_token stop);

  /// Returns the file; null for a stream.
  const File* file() const noexcept { return file_; }

  /// Returns the path of the file, or the name of the stream.
  const std::filesystem::path& path() const noexcept { return path_; }

  /// Returns the first bytes; fewer if the data end before. Valid until the next call. Throws
  /// Error(input).
  std::span<const std::byte> first(std::size_t bytes);
  /// Returns first() as text.
  std::string_view first_text(std::size_t bytes);

  /// Returns the size of the file or part, or of the stream if it has ended; else nothing.
  std::optional<std::uint64_t> bytes() const;

  /// Returns the argument of recognise(). Valid until the next call of first().
  FileSample sample();

  /// Returns all bytes that were read.
  std::vector<std::byte> take() { return std::move(bytes_); }

  /// True if all of it was read.
  bool has_ended() const noexcept { return has_ended_; }

 private:
  void read_file(std::size_t bytes);
  void read_stream(std::size_t bytes);
  std::string last(std::size_t bytes) const;

  const File* file_ = nullptr;
  std::uint64_t offset_ = 0;                 // of the part in the file
  std::optional<std::uint64_t> part_bytes_;  // empty: the whole file
  Producer* producer_ = nullptr;
  std::stop_token stop_;
  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  bool has_ended_ = false;
};

}  // namespace ooc::detail
