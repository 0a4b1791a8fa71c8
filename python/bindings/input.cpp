#include "input.hpp"

#include <filesystem>
#include <ooc/error.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ooc_python {
namespace {

ooc::Format format_of(const std::optional<std::string>& dtype, std::uint64_t offset) {
  ooc::Format format{.offset = offset, .by_columns = true};
  if (dtype) format.type = ooc::parse_dtype(*dtype);
  return format;
}

Input input_of(ooc::Source source, Input::Part part = {}, nb::object owner = {}) {
  return {std::make_shared<const ooc::Source>(std::move(source)), std::move(part),
          std::move(owner)};
}

Input open_files(const std::vector<std::string>& paths, const std::optional<std::string>& dtype,
                 std::uint64_t offset) {
  const std::vector<std::filesystem::path> files(paths.begin(), paths.end());
  const ooc::Format format = format_of(dtype, offset);
  const nb::gil_scoped_release released;
  return input_of(ooc::open(files, format), [=](std::uint64_t first, std::uint64_t count) {
    ooc::Format some = format;
    some.skip = first;
    some.count = count;
    return ooc::open(files, some);
  });
}

/// `owner` keeps the descriptor open.
Input open_descriptor(int descriptor, const std::optional<std::string>& dtype, std::uint64_t offset,
                      std::string name, nb::object owner) {
  const ooc::Format format = format_of(dtype, offset);
  ooc::Source source = [&] {
    const nb::gil_scoped_release released;
    return ooc::open(ooc::read_descriptor(descriptor, std::move(name)), format);
  }();
  return input_of(std::move(source), {}, std::move(owner));
}

/// `owner` keeps the memory: `bytes` bytes at an address.
Input open_memory(std::uintptr_t address, std::size_t bytes, std::string_view dtype,
                  std::vector<std::uint64_t> shape, nb::object owner) {
  const std::span memory(reinterpret_cast<const std::byte*>(address), bytes);
  const ooc::DType type = ooc::parse_dtype(dtype);
  ooc::Source source = ooc::from_memory(memory, type);
  source.set_shape(std::move(shape));
  return input_of(
      std::move(source),
      [=](std::uint64_t first, std::uint64_t count) {
        return ooc::from_memory(memory.subspan(first * size_of(type), count * size_of(type)), type);
      },
      std::move(owner));
}

/// Returns `count` rows from row `first` on, which there must be.
Input rows_of(const Input& input, std::uint64_t first, std::uint64_t count) {
  const ooc::Source& whole = *input.source;
  if (!input.part || !whole.columns()) {
    throw ooc::Error(ooc::ErrorKind::usage, whole.name() + ": has no rows to select");
  }
  const std::uint64_t columns = *whole.columns();
  std::vector<std::uint64_t> shape{count};
  shape.insert(shape.end(), whole.row_shape().begin(), whole.row_shape().end());
  ooc::Source rows = [&] {
    const nb::gil_scoped_release released;
    return input.part(first * columns, count * columns);
  }();
  rows.set_shape(std::move(shape));
  const auto part = [=, all = input.part](std::uint64_t begin, std::uint64_t elements) {
    return all(first * columns + begin, elements);
  };
  return input_of(std::move(rows), part, input.owner);
}

Input shard_of(const Input& input, std::uint64_t index, std::uint64_t count) {
  return input_of(ooc::shard(*input.source, index, count), {}, input.owner);
}

std::vector<std::uint64_t> shape_of(const Input& input) {
  const std::span<const std::uint64_t> rest = input.source->row_shape();
  const std::optional<std::uint64_t> rows = input.source->rows();
  std::vector<std::uint64_t> shape{rows ? *rows : input.source->elements()};
  if (rows) shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

/// Returns the fields of a struct: name, code, number of elements and offset.
std::vector<nb::object> fields_of(const Input& input) {
  std::vector<nb::object> fields;
  for (const ooc::Field& field : input.source->type().value_or(ooc::DType{}).fields) {
    ooc::DType element(field.element, field.swapped);
    element.is_bool = field.is_bool;
    fields.push_back(nb::make_tuple(field.name, ooc::code_of(element), field.count, field.offset));
  }
  return fields;
}

}  // namespace

void bind_input(nb::module_& module) {
  nb::class_<Input>(module, "Input")
      .def_prop_ro("name", [](const Input& input) { return input.source->name(); })
      .def_prop_ro("format", [](const Input& input) { return input.source->format; })
      .def_prop_ro("type_reason", [](const Input& input) { return input.source->type_reason; })
      .def_prop_ro("nbytes", [](const Input& input) { return input.source->bytes(); })
      .def_prop_ro("size", [](const Input& input) { return input.source->elements(); })
      .def_prop_ro("shape", shape_of)
      .def_prop_ro("is_stream", [](const Input& input) { return input.source->is_produced(); })
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
      .def("rows", rows_of, nb::arg("first"), nb::arg("count"))
      .def("shard", shard_of, nb::arg("index"), nb::arg("count"));
  module.def("open_files", open_files, nb::arg("paths"), nb::arg("dtype").none(),
             nb::arg("offset"));
  module.def("open_descriptor", open_descriptor, nb::arg("descriptor"), nb::arg("dtype").none(),
             nb::arg("offset"), nb::arg("name"), nb::arg("owner"));
  module.def("open_memory", open_memory, nb::arg("address"), nb::arg("bytes"), nb::arg("dtype"),
             nb::arg("shape"), nb::arg("owner"));
}

}  // namespace ooc_python
