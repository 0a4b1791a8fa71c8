#include <nanobind/ndarray.h>

#include <algorithm>
#include <ooc/chunks.hpp>
#include <ooc/detail/device/binding.hpp>
#include <ooc/error.hpp>
#include <optional>
#include <string>
#include <utility>

#include "dlpack.hpp"
#include "input.hpp"
#include "machine.hpp"
#include "watched.hpp"

namespace ooc_python {
namespace {

using DeviceArray = nb::ndarray<nb::ro, nb::device::cuda, nb::c_contig>;

/// A file that Python writes row by row: the `_ooc.Writer` of Python. One thread at a time.
class Writer {
 public:
  /// `row_shape`: empty for a sequence of elements.
  Writer(const std::filesystem::path& path, const std::string& dtype,
         std::vector<std::uint64_t> row_shape, bool replace, const Machine& machine)
      : coordinator_(machine.coordinator()), device_(coordinator_->device()) {
    const Call call;
    const nb::gil_scoped_release released;
    ooc::DType type = type_of(dtype);
    const ooc::Target target{.path = path, .type = type, .replace = replace};
    type.swapped = false;  // the arrays have this machine's byte order
    row_bytes_ = ooc::size_of(type);
    for (const std::uint64_t length : row_shape) row_bytes_ *= length;
    const ooc::detail::DeviceBinding bound(device_);
    stream_ = device_.make_stream();
    user_ = device_.borrow_stream(nullptr);
    event_ = device_.make_event();
    room_rows_ = std::max<std::size_t>(room_bytes / std::max<std::size_t>(row_bytes_, 1), 1);
    writer_.emplace(
        *coordinator_, target, type,
        ooc::ChunkWriterOptions{.row_shape = std::move(row_shape), .room_rows = room_rows_});
  }

  ~Writer() {
    if (!process_.is_this()) new std::optional(std::move(writer_));
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Appends rows at an address of the host.
  void write(std::uintptr_t address, std::size_t rows) {
    without_gil([&] { append(reinterpret_cast<const std::byte*>(address), rows); });
  }

  /// Appends rows on the device, which are ordered with CUDA's default stream.
  void write_device(const DeviceArray& array) {
    const Call call;
    const nb::gil_scoped_release released;
    append(static_cast<const std::byte*>(array.data()), array.ndim() == 0 ? 1 : array.shape(0));
  }

  std::uint64_t rows() const { return writer_ ? writer_->rows() : 0; }

  std::uint64_t commit() {
    return without_gil([&] {
      process_.require_this("the file");
      const ooc::detail::DeviceBinding bound(device_);
      return writer_->commit();
    });
  }

 private:
  static constexpr std::size_t room_bytes = std::size_t{8} << 20;

  /// Returns when the rows are copied, so that the caller may change them.
  void append(const std::byte* from, std::size_t rows) {
    process_.require_this("the file");
    const ooc::detail::DeviceBinding bound(device_);
    user_->record(*event_);
    stream_->wait(*event_);
    for (std::size_t count; rows > 0; rows -= count) {
      count = std::min(rows, room_rows_);
      stream_->copy(writer_->room<std::byte>().data, from, count * row_bytes_);
      stream_->record(*event_);
      writer_->put(*stream_, count);
      from += count * row_bytes_;
    }
    event_->synchronize();
  }

  Process process_;
  std::shared_ptr<ooc::Coordinator> coordinator_;
  ooc::Device& device_;
  std::unique_ptr<ooc::Stream> stream_, user_;
  std::unique_ptr<ooc::Event> event_;
  std::size_t row_bytes_ = 0, room_rows_ = 0;
  std::optional<ooc::ChunkWriter> writer_;
};

/// Returns the type, shape and device of an array on a GPU, and if its elements are in C order.
/// Throws nb::type_error.
nb::tuple device_array(const nb::ndarray<nb::ro, nb::device::cuda>& array) {
  using Code = nb::dlpack::dtype_code;
  const auto [code, bits, lanes] = array.dtype();
  constexpr std::size_t bits_of_byte = 8;
  const std::string bytes = std::to_string(bits / bits_of_byte);
  nb::list shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) shape.append(array.shape(i));
  bool is_contiguous = true;
  std::int64_t stride = 1;
  for (std::size_t i = array.ndim(); i-- > 0;) {
    is_contiguous &= array.shape(i) <= 1 || array.stride(i) == stride;
    stride *= static_cast<std::int64_t>(array.shape(i));
  }
  const auto typed = [&](const std::string& name) {
    return nb::make_tuple(name, shape, array.device_id(), is_contiguous);
  };
  switch (static_cast<Code>(code)) {
    case Code::Bool: return typed(std::string(bool_code));
    case Code::Bfloat: return typed("bf16");
    case Code::Float: return typed("f" + bytes);
    case Code::Int: return typed("i" + bytes);
    case Code::UInt: return typed("u" + bytes);
    default: throw nb::type_error("an array of a type that files do not hold");
  }
}

}  // namespace

void bind_writer(nb::module_& module) {
  module.def("device_array", device_array, nb::arg("array"),
             nb::sig("def device_array(array: object) -> tuple[str, list[int], int, bool]"));
  nb::class_<Writer>(module, "Writer")
      .def(nb::init<const std::filesystem::path&, const std::string&, std::vector<std::uint64_t>,
                    bool, const Machine&>(),
           nb::arg("path"), nb::arg("dtype"), nb::arg("row_shape"), nb::arg("replace"),
           nb::arg("machine"),
           nb::sig("def __init__(self, path: str, dtype: str, row_shape: Sequence[int], replace: "
                   "bool, machine: Machine) -> None"))
      .def_prop_ro("rows", &Writer::rows)
      .def("write", &Writer::write, nb::arg("address"), nb::arg("rows"))
      .def("write_device", &Writer::write_device, nb::arg("array"),
           nb::sig("def write_device(self, array: object) -> None"))
      .def("commit", &Writer::commit);
}

}  // namespace ooc_python
