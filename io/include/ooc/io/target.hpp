#pragma once

#include <ooc/io/element_type.hpp>
#include <ooc/io/output_file.hpp>
#include <ooc/io/source.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ooc {

/// What a pass writes: elements of one type, in row-major order.
struct Target {
  std::filesystem::path path;          // ends in .npy: such a file; else raw
  DType type{};                        // what lies in the file; bf16 only in raw ones
  std::vector<std::uint64_t> shape{};  // for .npy; empty: one dimension
  bool replace = false;                // an existing file, else that is an error

  bool is_npy() const { return ending_of(path) == ".npy"; }
};

/// The file of a target, with room for all elements and its header written. It becomes visible by
/// commit(). The data begins at a whole page, so that chunks can be written directly.
class TargetFile : public OutputFile {
 public:
  /// Throws Error: `usage` if the target is one of the inputs' files, by whatever name, or its
  /// type or shape cannot be written; `output` as OutputFile.
  TargetFile(const Target& target, std::uint64_t elements, std::span<const Source* const> inputs,
             Purpose purpose = Purpose::write);

  /// Bytes before the first element.
  std::uint64_t data_offset() const noexcept { return data_offset_; }

 private:
  std::uint64_t data_offset_;
};

/// The header of a .npy file, padded to 4096 bytes, which NumPy allows.
std::vector<std::byte> npy_header(DType type, std::span<const std::uint64_t> shape);

}  // namespace ooc
