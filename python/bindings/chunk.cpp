#include <array>
#include <cstdint>
#include <numeric>
#include <ooc/error.hpp>
#include <string>
#include <utility>

#include "dlpack.hpp"
#include "loop.hpp"
#include "watched.hpp"

namespace ooc_python {
namespace {

/// The rows of one source: the `_ooc.Chunk` of Python.
struct Chunk {
  std::shared_ptr<Rows> rows;
  std::size_t source;

  ooc::DeviceSpan<const std::byte> bytes() const { return rows->bytes[source]; }
  const Input& input() const { return rows->loop().input(source); }
  ooc::DType type() const { return input().source->type().value_or(ooc::DType{}); }
  bool is_on_cpu() const { return rows->loop().device().kind() == ooc::DeviceKind::cpu; }
};

std::vector<std::uint64_t> lengths_of(const Chunk& chunk) {
  std::vector<std::uint64_t> shape = shape_of(chunk.input());
  shape[0] = chunk.rows->count;
  return shape;
}

std::uintptr_t address_of(const Chunk& chunk) {
  return reinterpret_cast<std::uintptr_t>(chunk.bytes().data);
}

nb::dlpack::dtype dtype_of(const ooc::DType& type) {
  using Code = nb::dlpack::dtype_code;
  if (type.is_struct()) throw nb::buffer_error("DLPack has no structs: use numpy.asarray()");
  const Code code =
      type.is_bool ? Code::Bool : ooc::visit(type.element, []<class T>(std::type_identity<T>) {
        if (std::is_same_v<T, ooc::BFloat16>) return Code::Bfloat;
        if (ooc::is_floating<T>) return Code::Float;
        return std::is_signed_v<T> ? Code::Int : Code::UInt;
      });
  constexpr std::size_t bits_of_byte = 8;
  return {static_cast<std::uint8_t>(code),
          static_cast<std::uint8_t>(ooc::size_of(type) * bits_of_byte), 1};
}

/// Rows that an array of another library refers to.
template <class Managed>
struct View {
  Managed managed{};
  std::shared_ptr<Rows> rows;
  std::intptr_t user;  // stream
  std::vector<std::int64_t> shape{}, strides{};

  /// Called by the library, on any thread, with or without the GIL.
  static void end(Managed* managed) {
    auto* const view = static_cast<View*>(managed->context);
    view->rows->end_use(view->user);
    delete view;
  }
};

/// Returns a capsule that a consumer takes over, or drops.
template <class Managed>
nb::object capsule_of(const Chunk& chunk, std::intptr_t user, const char* name) {
  auto view = std::make_unique<View<Managed>>();
  view->rows = chunk.rows;
  view->user = user;
  for (const std::uint64_t length : lengths_of(chunk)) {
    view->shape.push_back(static_cast<std::int64_t>(length));
  }
  view->strides.assign(view->shape.size(), 1);
  for (std::size_t i = view->shape.size() - 1; i > 0; --i) {
    view->strides[i - 1] = view->strides[i] * view->shape[i];
  }
  const int device = chunk.is_on_cpu() ? nb::device::cpu::value : nb::device::cuda::value;
  view->managed.tensor = {
      .data = const_cast<std::byte*>(chunk.bytes().data),
      .device = {device, chunk.is_on_cpu() ? 0 : chunk.rows->loop().device_index()},
      .ndim = static_cast<std::int32_t>(view->shape.size()),
      .dtype = dtype_of(chunk.type()),
      .shape = view->shape.data(),
      .strides = view->strides.data(),
      .byte_offset = 0};
  view->managed.context = view.get();
  view->managed.deleter = View<Managed>::end;
  without_gil([&] { chunk.rows->begin_use(user); });
  const auto drop = [](PyObject* capsule) {
    const char* const now = PyCapsule_GetName(capsule);  // a consumer gives it another name
    if (now == nullptr || std::string_view(now).starts_with("used")) return;
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, now));
    View<Managed>::end(managed);
  };
  nb::object capsule = nb::steal(PyCapsule_New(&view->managed, name, drop));
  if (!capsule) nb::raise_python_error();
  static_cast<void>(view.release());
  return capsule;
}

nb::object dlpack_of(const Chunk& chunk, std::intptr_t user, bool versioned, bool copy) {
  Chunk shown = chunk;
  if (copy) shown.rows = without_gil([&] { return chunk.rows->loop().copy_of(*chunk.rows, user); });
  if (!versioned) return capsule_of<dlpack::Managed>(shown, user, "dltensor");
  nb::object capsule = capsule_of<dlpack::ManagedVersioned>(shown, user, "dltensor_versioned");
  auto* const managed = static_cast<dlpack::ManagedVersioned*>(
      PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
  managed->major = nb::dlpack::major_version;
  managed->minor = nb::dlpack::minor_version;
  managed->flags = (shown.rows->is_writable ? 0 : dlpack::read_only) |
                   (copy ? dlpack::is_copied : std::uint64_t{0});
  return capsule;
}

void copy_to_host(const Chunk& chunk, std::uintptr_t address, std::intptr_t user) {
  without_gil(
      [&] { chunk.rows->copy_to_host(chunk.source, reinterpret_cast<void*>(address), user); });
}

/// The user of rows whose address was given away: `__cuda_array_interface__` tells no stream.
struct Use {
  std::shared_ptr<Rows> rows;
  explicit Use(const Chunk& chunk) : rows(chunk.rows) {}
  ~Use() { rows->end_use(Rows::default_stream); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
};

}  // namespace

nb::object chunks_of(const std::shared_ptr<Rows>& rows) {
  nb::list chunks;
  for (std::size_t i = 0; i < rows->loop().inputs(); ++i) chunks.append(Chunk{rows, i});
  return nb::tuple(chunks);
}

void bind_chunk(nb::module_& module) {
  nb::class_<Chunk>(module, "Chunk")
      .def_prop_ro("first", [](const Chunk& chunk) { return chunk.rows->first; })
      .def_prop_ro("shape", lengths_of)
      .def_prop_ro("address", address_of)
      .def_prop_ro("nbytes", [](const Chunk& chunk) { return chunk.bytes().size; })
      .def_prop_ro("is_writable", [](const Chunk& chunk) { return chunk.rows->is_writable; })
      .def_prop_ro("is_on_cpu", &Chunk::is_on_cpu)
      .def_prop_ro("device_index",
                   [](const Chunk& chunk) { return chunk.rows->loop().device_index(); })
      .def_prop_ro("stream", [](const Chunk& chunk) { return chunk.rows->native_stream(); })
      .def("dlpack", dlpack_of, nb::arg("stream"), nb::arg("versioned"), nb::arg("copy"),
           nb::sig("def dlpack(self, stream: int, versioned: bool, copy: bool) -> object"))
      .def("copy_to_host", copy_to_host, nb::arg("address"), nb::arg("stream"));
  nb::class_<Use>(module, "Use").def(nb::init<const Chunk&>());
}

}  // namespace ooc_python
