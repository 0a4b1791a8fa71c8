#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/detail/file/storage_map.hpp>
#include <ooc/dtype.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc {

namespace detail {
class File;
struct SourceAccess;
}  // namespace detail

/// Consecutive records.
struct RecordRange {
  std::uint64_t first = 0;  ///< index of the first one
  std::uint64_t count = 0;  ///< how many there are

  /// Returns the index after the last one.
  std::uint64_t end() const noexcept { return first + count; }

  friend bool operator==(const RecordRange&, const RecordRange&) = default;
};

/// The implementation of asynchronous I/O. `automatic`: io_uring if it is available, else threads.
/// `http` is not chosen but reported: it reads remote files, and no other engine does.
enum class EngineKind { automatic, uring, threads, http };
/// Use of direct I/O (O_DIRECT). `automatic`: where possible, unless the page cache has enough of
/// the data to be faster.
enum class DirectIo { automatic, yes, no };

/// The format of files. `automatic` detects it, by the extension and the first bytes.
enum class FileFormat {
  automatic,    ///< one of those below; files of other formats are refused
  npy,          ///< a .npy file, whatever its name
  npz,          ///< a .npz file, that is, a zip archive of .npy files, whatever its name
  safetensors,  ///< a safetensors file, whatever its name
  zarr,         ///< a directory of a Zarr store, or the header in it
  hdf5,         ///< an HDF5 file, such as one of NetCDF-4, whatever its name
  fits,         ///< a FITS file, whatever its name
  vectors,      ///< rows of numbers with their length: .fbin, .u8bin, .i8bin, .ibin, .fvecs, ...
  nifti,        ///< a NIfTI-1 file with its data, whatever its name
  wav,          ///< a WAV, RF64 or BW64 file, whatever its name
  nrrd,         ///< an NRRD file, or the header of one
  metaimage,    ///< a header of MetaImage, with its data or without: .mha, .mhd
  envi,         ///< a header of ENVI, with its data in another file
  sigmf,        ///< a description of SigMF, with its data in another file
  raw,          ///< raw numbers, whatever they look like
};

/// Type and extent of raw data, and the .npy layouts to accept.
struct Format {
  std::optional<DType> type{};              ///< given by the user; empty: from the file or its name
  std::uint64_t offset = 0;                 ///< bytes to skip at the start of each raw file
  std::uint64_t skip = 0;                   ///< elements to skip in total, before those to use
  std::optional<std::uint64_t> count{};     ///< elements to use in total; empty: all
  bool by_columns = false;                  ///< accept .npy files in Fortran order
  FileFormat file = FileFormat::automatic;  ///< of all files
};

/// An array of the dataset in Fortran order, that is, column by column.
struct ColumnMajorArray {
  std::uint64_t first = 0;             ///< index of its first element in the dataset
  std::vector<std::uint64_t> shape{};  ///< its shape; the first index varies fastest in the file
};

/// Makes or receives bytes in their order: a generator, a pipe, a socket, a decompressor. A Source
/// that is made of one can be read once, from beginning to end.
///
///     class Ones final : public ooc::Producer {
///      public:
///       std::size_t fill(std::span<std::byte> room, const std::stop_token&) override {
///         const std::size_t bytes = std::min<std::uint64_t>(room.size(), left_);
///         std::memset(room.data(), 1, bytes);
///         left_ -= bytes;
///         return bytes;
///       }
///      private:
///       std::uint64_t left_ = 1'000'000;
///     };
///     const ooc::Source ones = ooc::produced(std::make_unique<Ones>(), {ooc::ElementType::u1});
class OOC_API Producer {
 public:
  virtual ~Producer() = default;

  /// Writes bytes to the beginning of `room`, which is not empty, and returns their number; 0 only
  /// at the end of the data. It may block, but must return soon after `stop` is requested, with the
  /// bytes that it has by then. A pass calls it on one thread; if it runs on a GPU, `room` is
  /// page-locked memory. An exception ends the pass.
  virtual std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) = 0;

  /// The name of the data in messages.
  virtual std::string name() const { return "the producer"; }

  /// Returns, after the end, the number of bytes that followed the data and are not part of them.
  virtual std::uint64_t bytes_behind() const { return 0; }
};

/// Returns a producer that reads a pipe, a socket, a terminal, or a file from its current position,
/// to the end. It does not own the descriptor, which must stay open until the pass has ended. It
/// enlarges a pipe to 1 MiB if the system allows that. Throws Error(input) when it cannot be read.
[[nodiscard]] OOC_API std::unique_ptr<Producer> read_descriptor(int descriptor, std::string name);

/// The input of a pass: one sequence of elements, in one or several files or made by a producer.
/// Owns the open files, so it is movable and not copyable; call open() again for a second one.
/// Const member functions are thread-safe, and several coordinators may read files at the same
/// time.
///
///     const ooc::Source prices = ooc::open("prices.f32");  // float32, by its extension
///     const ooc::Source table = ooc::open("table.npy");    // type and shape from its header
class OOC_API Source {
 public:
  Source(Source&&) noexcept = default;             ///< Takes the open files over.
  Source& operator=(Source&&) noexcept = default;  ///< Takes the open files over.
  Source(const Source&) = delete;                  // owns open files: move it, or open() them again
  Source& operator=(const Source&) = delete;

  /// Returns the size of all elements as they are stored (bytes); for a producer, 0 until it has
  /// been read.
  std::uint64_t bytes() const noexcept {
    return is_produced() ? produced_->bytes.load() : storage_.bytes();
  }

  /// Returns the number of elements or structs; for plain bytes, an element is a byte.
  std::uint64_t elements() const noexcept { return bytes() / element_bytes(); }

  /// Returns the size of an element or struct as it is stored (bytes): that of its type or, if the
  /// elements are a field of structs, that of the struct.
  std::size_t element_bytes() const noexcept {
    if (field_) return field_->struct_bytes;
    return type_ ? size_of(*type_) : 1;
  }

  /// Returns the number of rows (see columns()); empty if files have rows of different lengths.
  std::optional<std::uint64_t> rows() const noexcept;

  /// Returns the size of the data before this section in the whole source (bytes): see section().
  std::uint64_t bytes_before() const noexcept { return bytes_before_; }
  /// Returns the size of the whole source (bytes); bytes() if this is not a section.
  std::uint64_t whole_bytes() const noexcept { return is_section_ ? whole_bytes_ : bytes(); }
  /// True if section() made this source.
  bool is_section() const noexcept { return is_section_; }

  /// True if a producer makes the elements. Such a source is read once, from beginning to end.
  bool is_produced() const noexcept { return produced_ != nullptr; }

  /// True if the source is known to have no elements. False for a producer.
  bool is_empty() const noexcept { return storage_.bytes() == 0 && !is_produced(); }

  /// Returns the number of bytes after the arrays of .npy files, which are not read. Another
  /// program may be appending arrays to the file. For a stream, the number is known at its end.
  std::uint64_t bytes_behind() const noexcept {
    return is_produced() ? produced_->producer->bytes_behind() : bytes_behind_;
  }

  /// Returns a name for messages: the path of the first file, with `::` and the name of the array
  /// if it has one, or the name of the producer.
  std::string name() const;

  /// Returns the type of the elements; empty for a file opened as plain bytes, which an operator
  /// may read as any type.
  const std::optional<DType>& type() const noexcept { return type_; }

  /// Returns the element type that operators read; u1 for plain bytes and for structs. The fields
  /// of structs are in type().
  ElementType element() const noexcept { return type_ ? type_->element : ElementType::u1; }

  /// Returns the shape of a row: all lengths of the shape but the first. A section has the same row
  /// shape as the whole, even if it does not consist of whole rows.
  std::span<const std::uint64_t> row_shape() const noexcept {
    const std::span<const std::uint64_t> shape = is_section_ ? whole_shape_ : shape_;
    return shape.empty() ? shape : shape.subspan(1);
  }

  /// Returns the shape in row-major order; empty for raw files, several files, or a part of one.
  std::span<const std::uint64_t> shape() const noexcept { return shape_; }
  /// Sets the shape, and columns() to match it. The data stay as they are.
  void set_shape(std::vector<std::uint64_t> shape);

  /// Returns the number of elements of a row: the product of all lengths of the shape but the
  /// first, 1 for one dimension. Several files form one sequence of rows. Empty if their rows have
  /// different lengths, or if the product does not fit in 64 bits.
  std::optional<std::uint64_t> columns() const noexcept { return columns_; }
  /// Sets the number of elements of a row. The data stay as they are.
  void set_columns(std::optional<std::uint64_t> columns) noexcept { columns_ = columns; }

  /// Call this after the files have been read. Throws Error(input_changed) if, by its size and
  /// times, another program has, or may have, written to a file since it was opened. If it sets
  /// them back, this goes unnoticed. Returns a sentence if the name or other attributes changed.
  std::optional<std::string> check_unchanged() const;

  /// True if all files have this format. False for `automatic`, and for arrays in memory.
  bool has_format(FileFormat one) const noexcept;

  /// "raw", "npy", "npz", "safetensors", "zarr", "hdf5", "mixed" or "memory".
  std::string format = "raw";
  std::string format_version;  ///< "1.0" for a .npy file; empty for raw files, or if files differ
  /// The origin of the type: "from .f32", "from its header", "default for raw files", ...
  std::string type_reason;

  /// True if a file is in Fortran order, so that the order of the elements is not that of the
  /// shape.
  bool by_columns() const noexcept { return !column_major_.empty(); }
  /// Returns the arrays in Fortran order, in the order of the data; for a section, those of the
  /// whole source.
  const std::vector<ColumnMajorArray>& column_major() const noexcept { return column_major_; }

 private:
  struct Produced {
    std::unique_ptr<Producer> producer;
    std::atomic_flag taken{};
    std::atomic<std::uint64_t> bytes{0};
  };

  /// The place of the elements in the structs that are stored.
  struct FieldPlace {
    std::size_t offset, struct_bytes;
  };

  Source() = default;
  Source share() const;  // all but a producer
  friend struct detail::SourceAccess;
  friend OOC_API Source section(const Source& whole, std::uint64_t first, std::uint64_t count);
  friend OOC_API Source field(const Source& structs, std::string_view name);

  std::shared_ptr<const std::vector<detail::File>> files_;  // shared with sections
  detail::StorageMap storage_;                              // in these files
  std::unique_ptr<Produced> produced_;
  std::uint64_t bytes_behind_ = 0;
  bool is_section_ = false;
  std::uint64_t bytes_before_ = 0, whole_bytes_ = 0;  // of a section
  std::optional<DType> type_;
  std::optional<FieldPlace> field_;
  std::vector<std::uint64_t> shape_, whole_shape_;  // the second one of a section
  std::optional<std::uint64_t> columns_ = 1;
  std::vector<ColumnMajorArray> column_major_;
  std::string array_;                                        // its name in the first file
  std::shared_ptr<const std::vector<std::byte>> beginning_;  // of the first file, if it is raw
};

/// Opens files as one dataset, in the order given. An address (`https://`, `http://`, `s3://`)
/// names an object on a server, which is read in ranges. Files that are named `.npy` or begin with
/// its magic bytes (versions 1 to 3; C order unless `format.by_columns`) describe themselves, and
/// so do .npz, safetensors and HDF5 files, and Zarr stores. Other files are raw: their type is
/// `format.type`, else the one that their extension names (.f32, .i16, ...), else u1, unless they
/// look like numbers of another type. A pipe must be the only file, and can be read once: see
/// Producer.
///
/// `PATH::NAME` is an array of a file that has several: `model.safetensors::weight`. A file whose
/// name is the whole text wins; else the text is cut at the last `::` before which there is a file.
/// An address is cut behind `.safetensors` or `.npz`, or behind its query. Of a file that has one
/// array, the path is enough. A slice behind the name of a file or an array takes a part whose
/// elements are equally far apart, as NumPy does: `x.npy[100:200]`, `a.npz::w[-1]`, `x.npy[:, 3]`.
///
/// Files may be compressed: `x.f32.zst`, `.gz`, `.bgz`, `.lz4`. If all frames of one say how long
/// they are, it is read in any order; else it must be the only file, and can be read once.
///
/// Throws Error: `usage` if `paths` is empty, for an offset into a file that describes itself, for
/// a file of several arrays without a name, and for data without a type; `input` if a file cannot
/// be opened or read; `bad_input` for files of other formats (gzip, HDF5, text, ...), headers that
/// cannot be parsed, types that differ or contradict `format`, and sizes that do not fit. Other
/// formats are refused unless `format.offset` skips their header or `format.file` says that they
/// are meant.
[[nodiscard]] OOC_API Source open(std::span<const std::filesystem::path> paths,
                                  const Format& format = {});
/// Opens the files of a list, `open({"a.f32", "b.f32"})`, in the same way.
[[nodiscard]] OOC_API Source open(std::initializer_list<std::filesystem::path> paths,
                                  const Format& format = {});
/// Opens one file in the same way.
[[nodiscard]] OOC_API Source open(const std::filesystem::path& path, const Format& format = {});
/// Opens the data of a producer in the same way: data that begin like a .npy file are one, and
/// other formats are refused. Reads the beginning, until `stop` is requested. `format.type` is
/// required unless the data are a .npy file, or the producer's name ends like a file of a type:
///
///     const ooc::Source input = ooc::open(ooc::read_descriptor(STDIN_FILENO, "the input"));
[[nodiscard]] OOC_API Source open(std::unique_ptr<Producer> producer, const Format& format = {},
                                  std::stop_token stop = {});

/// Opens all bytes of one file, including a header if it has one, as plain bytes. An operator reads
/// them as its Input, whatever type that is. Throws Error(input).
[[nodiscard]] OOC_API Source open_bytes(const std::filesystem::path& path);

/// Returns `count` elements or structs of a source, from index `first` on, as a source that shares
/// the open files and may outlive `whole`. Operators see the index of its records in the whole
/// source (DeviceChunk::first), so that results of several sections can be merged: see collect().
/// In plain bytes, an element is a byte. The section has no shape; its rows are as long as those
/// of the whole. Throws Error(usage) if the source has too few elements, or if a producer makes
/// it.
///
///     const ooc::Source half = ooc::section(prices, 0, 1 << 20);
[[nodiscard]] OOC_API Source section(const Source& whole, std::uint64_t first, std::uint64_t count);

/// Returns a field of a source of structs as a source of elements, which shares the open files and
/// may outlive `structs`. Operators read its elements as if they were stored one after another; a
/// pass reads all bytes of the structs. Throws Error(usage) if there is no such field, if it has
/// several elements, or if a producer makes the structs.
///
///     const ooc::Source prices = ooc::field(trades, "price");
[[nodiscard]] OOC_API Source field(const Source& structs, std::string_view name);

/// Returns section `index`, from 0 on, of `count` sections that divide a source as evenly as
/// multiples of `partition` elements allow. It may be empty. For collect(), pass the partition of
/// the operator times the elements of a row, or call shard_rows(); the default is for the built-in
/// operators. Throws Error(usage) if there is no such section, and as section() does.
[[nodiscard]] OOC_API Source shard(const Source& whole, std::uint64_t index, std::uint64_t count,
                                   std::uint64_t partition = 65536);

/// Like section(), in rows (see Source::columns()): `count` rows, from row `first` on.
[[nodiscard]] OOC_API Source section_rows(const Source& whole, std::uint64_t first,
                                          std::uint64_t count);

/// Like shard(), in rows, for operators that read rows. `partition`: rows of a partition of the
/// operator.
[[nodiscard]] OOC_API Source shard_rows(const Source& whole, std::uint64_t index,
                                        std::uint64_t count, std::uint64_t partition = 65536);

/// Returns an array in host memory as a source of elements or structs of `type`, in rows of
/// `columns`. Nothing is copied: the memory must outlive the source and its sections, and must not
/// be written to during a pass. `name` is used in messages. Throws Error(usage) unless the array
/// has whole rows. The overload in ooc/records.hpp deduces `type` from the C++ type of the values.
[[nodiscard]] OOC_API Source from_memory(std::span<const std::byte> memory, DType type,
                                         std::uint64_t columns = 1,
                                         std::string name = "an array in memory");

/// Like from_memory(), for an array in the memory of a GPU, in this machine's byte order. Passes
/// work on that memory, without a checksum. They throw Error(usage) unless that GPU is the first
/// device of the coordinator, and if the array is not aligned to the records of an operator.
/// Products and checks of results refuse it. Bools in it are 0 or 1. The program's own work on the
/// array must have ended before a pass begins.
[[nodiscard]] OOC_API Source from_device_memory(std::span<const std::byte> memory, DType type,
                                                std::uint64_t columns = 1,
                                                std::string name = "an array on a GPU");

/// Returns the bytes of a producer, which are not parsed, as a source that can be read once. See
/// Producer.
[[nodiscard]] OOC_API Source produced(std::unique_ptr<Producer> producer, DType type,
                                      std::span<const std::uint64_t> row_shape = {});

/// Opens the data that a descriptor delivers (see read_descriptor()) as open() does. Waits for the
/// first bytes. If they begin like a .npy file, its header must agree with `type` and `row_shape`:
///
///     const ooc::Source input = ooc::from_descriptor(STDIN_FILENO, {ooc::ElementType::f4});
[[nodiscard]] OOC_API Source from_descriptor(int descriptor, DType type,
                                             std::span<const std::uint64_t> row_shape = {},
                                             std::string name = "the input");

}  // namespace ooc
