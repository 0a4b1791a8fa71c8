#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/file/file_lock.hpp>
#include <ooc/detail/pool/record_range.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ooc {

/// A file of the data as it was when a part was computed. The name is for messages, since it may be
/// another one on another machine.
struct FileIdentity {
  std::string name;              ///< the path
  std::uint64_t bytes = 0;       ///< its size
  std::int64_t modified_ns = 0;  ///< time of the last write (nanoseconds since 1970)
  std::uint64_t hash = 0;        ///< XXH3-64 of both ends (64 KiB each) and 63 pages between, or
                                 ///< of the version that a server names
};

/// Returns the identity of each file of a source, and reads some 400 KiB of each local one for it.
/// Throws Error(input).
OOC_API std::vector<FileIdentity> identity_of(const Source& source);
/// The same for one file.
OOC_API FileIdentity identity_of(const File& file);

/// Parts of folds of one section (see collect()) in a file, with what it takes to know that they
/// belong to others: the format `ooc.partial/1`. It is 8 bytes `OOCPART\n`, the length of a header
/// (8 bytes, little-endian), the header, which is JSON, the saved parts one after another, and the
/// XXH3-128 of all that.
///
///     ooc::PartFile file{.question = R"({"above": 5})", .input = ooc::identity_of(prices)};
///     file.add(part);
///     ooc::write_part_file("0.part", file);
struct PartFile {
  /// JSON: all that decides the result. Files with other questions do not belong together.
  std::string question = "{}";
  std::string about = "{}";           ///< JSON: whatever else the program wants to keep
  std::vector<FileIdentity> input{};  ///< the files of the data
  std::uint64_t records = 0;          ///< of the whole data
  std::vector<RecordRange> covers{};  ///< the records of which the parts are, in their order
  std::vector<std::vector<std::byte>> parts{};  ///< what Part::save() has returned

  /// Adds a part. Throws Error(usage) unless it covers the same records as those before.
  template <class AnyPart>
  void add(const AnyPart& part) {
    add(part.records(), part.covers(), part.save());
  }

  /// The same for a part that is saved.
  OOC_API void add(std::uint64_t of_records, std::span<const RecordRange> of_ranges,
                   std::vector<std::byte> saved);

  /// Returns what `load` makes of the bytes of one of the parts: a Part. Throws Error(bad_input) if
  /// there are fewer parts, or if it covers other records than the file says; and as `load` does.
  ///
  ///     auto part = file.load(0, [](auto bytes) { return ooc::load_part(Above{5}, bytes); });
  template <class Load>
  auto load(std::size_t index, const Load& load) const {
    auto part = load(saved(index));
    require_covers(part.records(), part.covers());
    return part;
  }

 private:
  OOC_API std::span<const std::byte> saved(std::size_t index) const;
  OOC_API void require_covers(std::uint64_t of_records,
                              std::span<const RecordRange> of_ranges) const;
};

/// Writes a file that appears complete or not at all, and is on the disk then. Throws
/// Error(output), also if there is one and `replace` is false; Error(usage) if a member is not
/// JSON.
OOC_API void write_part_file(const std::filesystem::path& path, const PartFile& file,
                             bool replace = false);

/// The same. Returns a lock on the file, which it has from its first moment on.
OOC_API FileLock write_locked(const std::filesystem::path& path, const PartFile& file,
                              bool replace);

/// Reads such a file. Throws Error: `input` if it cannot be read; `bad_input` if it is no such
/// file, or damaged; `usage` if a later version has written it.
OOC_API PartFile read_part_file(const std::filesystem::path& path);

/// Returns the bytes of such a file. Throws Error(usage) if a member is not JSON.
OOC_API std::vector<std::byte> bytes_of(const PartFile& file);
/// Returns the file that has these bytes. Throws as read_part_file(); `path` is for messages.
OOC_API PartFile part_file_in(std::span<const std::byte> bytes, const std::filesystem::path& path);

/// Returns what differs between the data of two files; empty if they have the same. `ignore_times`:
/// the files of the data may be copies, with other times of the last write.
OOC_API std::string difference_of_data(const PartFile& one, const PartFile& other,
                                       bool ignore_times = false);

/// Throws unless two files, of these paths, are of the same question and data: Error(usage) or
/// Error(input_changed), with what differs. `ignore_times`: as above.
OOC_API void require_same_data(const PartFile& one, const std::filesystem::path& path,
                               const PartFile& other, const std::filesystem::path& other_path,
                               bool ignore_times = false);

}  // namespace ooc
