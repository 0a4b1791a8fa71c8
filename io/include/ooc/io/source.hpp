#pragma once

#include <ooc/io/element_type.hpp>
#include <ooc/io/extent.hpp>
#include <ooc/io/file.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ooc {

/// Which part of a raw file to use, and as what.
struct Format {
  std::optional<DType> type{};           // as given by the user; else from the file or its name
  std::uint64_t offset = 0;              // bytes to skip at the start of each raw file
  std::optional<std::uint64_t> count{};  // elements to use of the whole; default: all
  bool by_columns = false;               // accept .npy files that are stored column by column
};

/// What a pass reads: one sequence of elements that lies in one or several files. It owns the open
/// files, so it moves and cannot be copied; open() them again for a second one. Its const functions
/// may be called by several threads, and several coordinators may read it at the same time.
///
///     const ooc::Source prices = ooc::open("prices.f32");  // float32, by its ending
///     const ooc::Source table = ooc::open("table.npy");    // the type and shape of its header
class Source {
 public:
  /// All bytes of one file as plain bytes, with any header that it has: an operator reads them as
  /// its Input, whatever that is. ooc::open() finds type and data of files that describe
  /// themselves.
  explicit Source(File file);

  /// The parts `extents` of `files`, in that order. Throws Error(bad_input) if an extent reaches
  /// past its file or the bytes are not a whole number of elements.
  Source(std::vector<File> files, std::vector<Extent> extents, DType type);

  Source(Source&&) noexcept = default;
  Source& operator=(Source&&) noexcept = default;
  Source(const Source&) = delete;  // it owns open files: move it, or open() them again
  Source& operator=(const Source&) = delete;

  std::span<const File> files() const noexcept { return files_; }
  std::span<const Extent> extents() const noexcept { return extents_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

  /// Empty for a file opened as plain bytes, which an operator may read as what it likes.
  const std::optional<DType>& type() const noexcept { return type_; }

  /// What operators take the elements for: plain bytes are u1.
  ElementType element() const noexcept { return type_ ? type_->element : ElementType::u1; }

  /// Row-major; empty for raw files, whose elements are just a sequence.
  std::span<const std::uint64_t> shape() const noexcept { return shape_; }
  void set_shape(std::vector<std::uint64_t> shape) { shape_ = std::move(shape); }

  /// To be called when its files have been read. Throws Error(input_changed) if another program has
  /// written to one of them since it was opened, or may have (see File::check_unchanged). Returns a
  /// sentence if something else about them has changed.
  std::optional<std::string> check_unchanged() const;

  /// "raw", "npy" or "mixed", and where the type was learnt from: "from .f32", "default", ...
  std::string format = "raw";
  std::string format_version;  // "1.0" of a .npy file; empty for raw ones, or if files differ
  std::string type_reason;

  /// Whether one of its files is stored column by column (NumPy's Fortran order), so that elements
  /// do not come in the order of the shape.
  bool by_columns = false;

 private:
  std::vector<File> files_;
  std::vector<Extent> extents_;
  std::uint64_t bytes_ = 0;
  std::optional<DType> type_;
  std::vector<std::uint64_t> shape_;
};

/// Whether a file begins like a .npy file, whatever its name. Throws Error(input).
bool begins_like_npy(const File& file);

/// Opens files as one dataset, in the order given. `.npy` files (by their magic bytes, versions 1
/// to 3, C order unless `format` says otherwise) describe themselves; others are raw: their type is
/// the one asked for, else the one their ending names (.f32, .i16, ...), else u1. Throws Error:
/// `bad_input` for headers that are not understood, types that differ or contradict `format`, sizes
/// that do not fit.
Source open(std::span<const std::filesystem::path> paths, const Format& format = {});
Source open(const std::filesystem::path& path, const Format& format = {});

}  // namespace ooc
