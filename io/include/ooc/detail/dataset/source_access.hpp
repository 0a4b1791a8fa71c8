#pragma once

#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/storage_map.hpp>
#include <ooc/source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ooc::detail {

/// The members of a Source for formats and passes.
struct SourceAccess {
  /// Returns the concatenation of `extents` of `files`. Throws Error(bad_input) if an extent
  /// reaches past the end of its file or the bytes are not a whole number of elements.
  static Source of_files(std::vector<File> files, const std::vector<Extent>& extents, DType type);

  /// Returns all bytes of a file as plain bytes.
  static Source of_bytes(File file);

  /// Returns the data of a producer: elements of `type` or, with a `row_shape`, rows of that shape.
  static Source of_producer(std::unique_ptr<Producer> producer, DType type,
                            std::span<const std::uint64_t> row_shape);

  static std::span<const File> files(const Source& source) noexcept;
  static const StorageMap& storage(const Source& source) noexcept { return source.storage_; }

  /// Returns the place of the elements in the structs that are stored; nothing if the elements
  /// themselves are.
  static const auto& field(const Source& source) noexcept { return source.field_; }

  /// Returns the array in the memory of a GPU of which the source consists; empty, with a null
  /// pointer, if it is no such array.
  static std::span<const std::byte> device_memory(const Source& source) noexcept;

  /// Returns the producer; null if there is none.
  static Producer* producer(const Source& source) noexcept {
    return source.produced_ ? source.produced_->producer.get() : nullptr;
  }

  /// Marks the beginning of the only reading of a producer. Throws Error(usage) if there was one
  /// before.
  static void begin_producer(const Source& source);

  /// Marks the end of that reading, after `read_bytes` bytes.
  static void end_producer(const Source& source, std::uint64_t read_bytes) noexcept;

  /// Throws Error(usage) if a producer was read already, or if the source was moved from.
  static void require_unread(const Source& source);

  static void set_bytes_behind(Source& source, std::uint64_t bytes) noexcept {
    source.bytes_behind_ = bytes;
  }
  static void set_column_major(Source& source, std::vector<ColumnMajorArray> arrays) {
    source.column_major_ = std::move(arrays);
  }

  /// Returns the name of the array in the first file; empty if the file gives it none.
  static const std::string& array(const Source& source) noexcept { return source.array_; }
  static void set_array(Source& source, std::string name) { source.array_ = std::move(name); }

  /// Returns the first bytes of the first file, which open() has read if it is raw; else nothing.
  static std::span<const std::byte> beginning(const Source& source) noexcept {
    return source.beginning_ ? std::span<const std::byte>(*source.beginning_)
                             : std::span<const std::byte>();
  }
  static void set_beginning(Source& source, std::vector<std::byte> bytes) {
    source.beginning_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }
};

/// Returns the open files, in the order of the data; empty for a producer.
inline std::span<const File> files_of(const Source& source) noexcept {
  return SourceAccess::files(source);
}

/// Returns where the data lie in these files.
inline const StorageMap& storage_of(const Source& source) noexcept {
  return SourceAccess::storage(source);
}

/// Returns the path of the first file; empty for a producer.
std::filesystem::path path_of(const Source& source);

/// True if the file begins with the magic bytes of .npy, whatever its name. Throws Error: `input`
/// if it cannot be read, `bad_input` if it ends meanwhile.
bool begins_like_npy(const File& file);

}  // namespace ooc::detail
