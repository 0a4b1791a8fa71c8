#include "input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dataset/type_doubt.hpp"
#include "watched.hpp"

namespace ooc_python {
namespace {

ooc::Format format_of(const std::optional<std::string>& dtype, std::uint64_t offset) {
  ooc::Format format{.offset = offset, .by_columns = true};
  if (dtype) format.type = type_of(*dtype);
  return format;
}

Input input_of(ooc::Source source, Input::Part part = {}, std::shared_ptr<const void> owner = {},
               int gpu = -1) {
  return {std::make_shared<const ooc::Source>(std::move(source)), std::move(part), std::move(owner),
          gpu};
}

/// Device and inode of a file, which differ from those of another file that has taken its name. All
/// 0 for an address.
using Identity = std::array<std::uint64_t, 2>;

std::vector<Identity> identities_of(const ooc::Source& source) {
  std::vector<Identity> identities;
  for (const ooc::detail::File& file : ooc::detail::files_of(source)) {
    struct stat status {};
    const bool is_local = ::stat(file.path().c_str(), &status) == 0;
    identities.push_back(is_local ? Identity{status.st_dev, status.st_ino} : Identity{});
  }
  return identities;
}

/// `shape`: of an array that is part of a file; empty for a whole file. `row_shape`: of the rows of
/// raw files, unless these are no whole rows.
Input open_files(const std::vector<std::filesystem::path>& files,
                 const std::optional<std::string>& dtype, std::uint64_t offset,
                 std::vector<std::uint64_t> shape,
                 const std::optional<std::vector<std::uint64_t>>& row_shape) {
  ooc::Format format = format_of(dtype, offset);
  if (!shape.empty()) {
    format.count = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies());
  }
  const Call call;
  const nb::gil_scoped_release released;
  ooc::Source source = ooc::open(files, format);
  std::string doubt = ooc_run::type_doubt(source, format, "dtype=");
  if (row_shape && source.has_format(ooc::FileFormat::raw)) {
    shape = *row_shape;
    const std::uint64_t row =
        std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies());
    if (row == 0 || source.elements() % row != 0) shape.clear();
    if (!shape.empty()) shape.insert(shape.begin(), source.elements() / row);
  }
  if (!shape.empty()) source.set_shape(std::move(shape));
  const auto part = [=, identities = identities_of(source)](std::uint64_t first,
                                                            std::uint64_t count) {
    ooc::Format some = format;
    some.skip = first;
    some.count = count;
    ooc::Source elements = ooc::open(files, some);
    const std::vector<Identity> now = identities_of(elements);
    const auto [before, after] = std::ranges::mismatch(identities, now);
    if (before == identities.end()) return elements;
    const std::filesystem::path& path = files[static_cast<std::size_t>(after - now.begin())];
    throw ooc::Error(ooc::ErrorKind::input_changed,
                     path.string() + ": is another file than when it was opened", {.path = path});
  };
  Input input = input_of(std::move(source), part);
  input.doubt = std::move(doubt);
  return input;
}

/// Calls `open` with a stop token on a thread of its own, and runs the handlers of signals
/// meanwhile: a pipe may deliver nothing for long. What a handler raises stops it, and so does the
/// end of the interpreter.
template <class Open>
ooc::Source open_interruptibly(Open open) {
  const Call call;
  std::promise<ooc::Source> promise;
  std::future<ooc::Source> opened = promise.get_future();
  std::jthread thread([&](const std::stop_token& stop) {
    try {
      promise.set_value(open(stop));
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  const std::stop_callback at_exit(Calls::all().stop_token(), [&] { thread.request_stop(); });
  const auto wait = [&] {
    const nb::gil_scoped_release released;
    return opened.wait_for(std::chrono::milliseconds(100));
  };
  while (wait() != std::future_status::ready) {
    if (PyErr_CheckSignals() == 0) continue;
    thread.request_stop();
    {
      const nb::gil_scoped_release released;
      thread.join();
    }
    nb::raise_python_error();
  }
  return opened.get();
}

/// A descriptor of our own for what another one refers to.
class Descriptor {
 public:
  explicit Descriptor(int other) : descriptor_(::fcntl(other, F_DUPFD_CLOEXEC, 0)) {
    if (descriptor_ < 0) throw ooc::Error::from_errno(ooc::ErrorKind::input, "dup", errno);
  }
  ~Descriptor() { ::close(descriptor_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Input open_descriptor(int descriptor, const std::optional<std::string>& dtype, std::uint64_t offset,
                      const std::string& name) {
  const ooc::Format format = format_of(dtype, offset);
  const auto own = std::make_shared<const Descriptor>(descriptor);
  ooc::Source source = open_interruptibly([&](const std::stop_token& stop) {
    return ooc::open(ooc::read_descriptor(own->get(), name), format, stop);
  });
  return input_of(std::move(source), {}, own);
}

/// `owner` keeps the memory: `bytes` bytes at an address.
Input open_memory(std::uintptr_t address, std::size_t bytes, std::string_view dtype,
                  std::vector<std::uint64_t> shape, nb::object owner) {
  const std::span memory(reinterpret_cast<const std::byte*>(address), bytes);
  const ooc::DType type = type_of(dtype);
  ooc::Source source = ooc::from_memory(memory, type);
  source.set_shape(std::move(shape));
  return input_of(
      std::move(source),
      [=](std::uint64_t first, std::uint64_t count) {
        return ooc::from_memory(memory.subspan(first * size_of(type), count * size_of(type)), type);
      },
      owner_of(std::move(owner)));
}

/// `array` is in C order, and ordered with CUDA's default stream. `owner` keeps its memory.
Input open_device_memory(const nb::ndarray<nb::ro, nb::device::cuda>& array, std::string_view dtype,
                         nb::object owner) {
  const ooc::DType type = type_of(dtype);
  std::vector<std::uint64_t> shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) shape.push_back(array.shape(i));
  const std::span memory(static_cast<const std::byte*>(array.data()), array.size() * size_of(type));
  const int gpu = array.device_id();
  ooc::Source source = ooc::from_device_memory(memory, type);
  source.set_shape(std::move(shape));
  return input_of(
      std::move(source),
      [=](std::uint64_t first, std::uint64_t count) {
        return ooc::from_device_memory(memory.subspan(first * size_of(type), count * size_of(type)),
                                       type);
      },
      owner_of(std::move(owner)), gpu);
}

/// Returns another view of the data of an input.
Input view_of(const Input& input, ooc::Source source, Input::Part part = {}) {
  Input view = input;
  view.source = std::make_shared<const ooc::Source>(std::move(source));
  view.part = std::move(part);
  return view;
}

/// Returns `count` rows from row `first` on.
Input rows_of(const Input& input, std::uint64_t first, std::uint64_t count) {
  const ooc::Source& whole = *input.source;
  std::vector<std::uint64_t> shape = shape_of(input);
  if (!input.part || first > shape[0] || count > shape[0] - first) {
    throw ooc::Error(ooc::ErrorKind::usage, whole.name() + ": has no such rows");
  }
  const std::uint64_t columns = whole.rows() ? whole.columns().value_or(1) : 1;
  shape[0] = count;
  ooc::Source rows = [&] {
    const Call call;
    const nb::gil_scoped_release released;
    return input.part(first * columns, count * columns);
  }();
  rows.set_shape(std::move(shape));
  const auto part = [=, all = input.part](std::uint64_t begin, std::uint64_t elements) {
    return all(first * columns + begin, elements);
  };
  return view_of(input, std::move(rows), part);
}

Input shard_of(const Input& input, std::uint64_t index, std::uint64_t count) {
  ooc::Source part = ooc::shard(*input.source, index, count);
  part.set_columns(1);  // it may begin and end within a row
  return view_of(input, std::move(part));
}

/// Returns a field of structs: an array of the same shape.
Input field_of(const Input& input, const std::string& name) {
  ooc::Source elements = ooc::field(*input.source, name);
  if (!input.part) return view_of(input, std::move(elements));
  const auto part = [=, all = input.part](std::uint64_t first, std::uint64_t count) {
    return ooc::field(all(first, count), name);
  };
  return view_of(input, std::move(elements), part);
}

/// Returns the fields of a struct: name, code, number of elements and offset.
std::vector<nb::object> fields_of(const Input& input) {
  std::vector<nb::object> fields;
  for (const ooc::Field& field : input.source->type().value_or(ooc::DType{}).fields) {
    ooc::DType element(field.element, field.swapped);
    const std::string code = field.is_bool ? std::string(bool_code) : ooc::code_of(element);
    fields.push_back(nb::make_tuple(field.name, code, field.count, field.offset));
  }
  return fields;
}

}  // namespace

ooc::DType type_of(std::string_view code) {
  if (code != bool_code) return ooc::parse_dtype(code);
  ooc::DType type{ooc::ElementType::u1};
  type.is_bool = true;
  return type;
}

std::shared_ptr<const void> owner_of(nb::object object) {
  const auto drop = [](PyObject* held) {
    try {
      const Call call;  // since this may run Python
      const nb::gil_scoped_acquire gil;
      Py_DECREF(held);
    } catch (const ooc::Error&) {
      return;  // the interpreter is ending, and so do its objects
    }
  };
  return {object.release().ptr(), drop};
}

std::vector<std::uint64_t> shape_of(const Input& input) {
  const ooc::Source& source = *input.source;
  const std::optional<std::uint64_t> rows = source.rows();
  // A shard may begin and end within a row.
  if (!rows || source.is_section()) return {source.elements()};
  std::vector<std::uint64_t> shape{*rows};
  const std::span<const std::uint64_t> rest = source.row_shape();
  shape.insert(shape.end(), rest.begin(), rest.end());
  // Several files have rows, and no shape.
  if (rest.empty() && source.columns() != 1) shape.push_back(*source.columns());
  return shape;
}

void bind_input(nb::module_& module) {
  nb::class_<Input>(module, "Input")
      .def_prop_ro(
          "name", [](const Input& input) { return text_of(input.source->name()); },
          nb::sig("def name(self) -> str"))
      .def_prop_ro("format", [](const Input& input) { return input.source->format; })
      .def_prop_ro(
          "is_raw",
          [](const Input& input) { return input.source->has_format(ooc::FileFormat::raw); })
      .def_prop_ro("type_reason", [](const Input& input) { return input.source->type_reason; })
      .def_prop_ro("nbytes",
                   [](const Input& input) {
                     const ooc::Source& source = *input.source;
                     return source.elements() * size_of(source.type().value_or(ooc::DType{}));
                   })
      .def_prop_ro("size", [](const Input& input) { return input.source->elements(); })
      .def_prop_ro("shape", shape_of)
      .def_prop_ro("is_stream", [](const Input& input) { return input.source->is_produced(); })
      .def_prop_ro(
          "doubt", [](const Input& input) { return text_of(input.doubt); },
          nb::sig("def doubt(self) -> str"))
      .def_prop_ro("gpu", [](const Input& input) { return input.gpu; })
      .def_prop_ro("is_section", [](const Input& input) { return input.source->is_section(); })
      .def_prop_ro("by_columns", [](const Input& input) { return input.source->by_columns(); })
      .def_prop_ro(
          "is_bool",
          [](const Input& input) { return input.source->type() && input.source->type()->is_bool; })
      .def_prop_ro("code",
                   [](const Input& input) {
                     return ooc::code_of(input.source->type().value_or(ooc::DType{}));
                   })
      .def_prop_ro("fields", fields_of,
                   nb::sig("def fields(self) -> list[tuple[str, str, int, int]]"))
      .def_prop_ro("itemsize",
                   [](const Input& input) {
                     return ooc::size_of(input.source->type().value_or(ooc::DType{}));
                   })
      .def("field", field_of, nb::arg("name"))
      .def("rows", rows_of, nb::arg("first"), nb::arg("count"))
      .def("shard", shard_of, nb::arg("index"), nb::arg("count"));
  module.def("open_files", open_files, nb::arg("paths"), nb::arg("dtype").none(), nb::arg("offset"),
             nb::arg("shape") = std::vector<std::uint64_t>{}, nb::arg("row_shape") = nb::none(),
             nb::sig("def open_files(paths: Sequence[str], dtype: str | None, offset: int, shape: "
                     "Sequence[int] = (), row_shape: Sequence[int] | None = None) -> Input"));
  module.def("open_descriptor", open_descriptor, nb::arg("descriptor"), nb::arg("dtype").none(),
             nb::arg("offset"), nb::arg("name"));
  module.def("open_memory", open_memory, nb::arg("address"), nb::arg("bytes"), nb::arg("dtype"),
             nb::arg("shape"), nb::arg("owner"));
  module.def("open_device_memory", open_device_memory, nb::arg("array"), nb::arg("dtype"),
             nb::arg("owner"),
             nb::sig("def open_device_memory(array: object, dtype: str, owner: object) -> Input"));
}

}  // namespace ooc_python
