#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/source.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ooc::detail {

/// The open file of a target, with space for all elements and its header written. commit() makes it
/// visible. The data begins at a page boundary, so that chunks can be written directly.
class OOC_API TargetFile : public OutputFile {
 public:
  /// `elements`: their number; an upper bound if the file is appended to, whose header end()
  /// writes. If `kept` has a name, the file is kept (see OutputFile). Throws Error: `usage` if the
  /// target is the same file as one of the inputs, its type or shape cannot be written, or the
  /// ending of a raw file names another type or another format; `output` as OutputFile.
  TargetFile(const Target& target, std::uint64_t elements, std::span<const Source* const> inputs,
             Purpose purpose = Purpose::write, const KeptFile& kept = {});

  /// Returns the offset of the first element in the file (bytes).
  std::uint64_t data_offset() const noexcept { return data_offset_; }

  /// Takes the next `bytes` bytes of a file that is appended to, and returns their offset in it.
  /// Not thread-safe. Throws Error(output) if there is no space.
  std::uint64_t append(std::uint64_t bytes);

  /// Returns the size of the file (bytes). One that is appended to grows.
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Size of all that was appended (bytes).
  std::uint64_t appended_bytes() const noexcept { return bytes_ - data_offset_; }

  /// Ends a file that is appended to: writes its header and sets its size. `row_shape`: the shape
  /// of one row; empty if the file is a sequence of elements. Throws Error(output).
  void end(std::span<const std::uint64_t> row_shape);

 private:
  bool is_npy_;
  DType type_;
  std::uint64_t data_offset_;
  std::uint64_t bytes_;
};

/// Throws Error(usage) if the extension of a path is that of a format that is not written, such as
/// .csv: the file would have raw numbers.
OOC_API void require_written_format(const std::filesystem::path& path);

/// Returns the header of a .npy file, padded to 4096 bytes, which NumPy allows. Throws Error(usage)
/// if the shape or the fields do not fit in it, or a field cannot have its name.
OOC_API std::vector<std::byte> npy_header(const DType& type, std::span<const std::uint64_t> shape);

}  // namespace ooc::detail
