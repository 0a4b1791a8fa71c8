#include <cstdint>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <ooc/convert.hpp>
#include <ooc/detail/device/cuda_facts.hpp>
#include <ooc/error.hpp>
#include <ooc/fold.hpp>
#include <ooc/matmul.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/sizes.hpp"
#include "input.hpp"
#include "machine.hpp"
#include "result/json.hpp"
#include "result/reasons.hpp"
#include "result/report.hpp"
#include "run.hpp"
#include "run_on.hpp"

namespace ooc_python {
namespace {

/// Returns the bytes of a size as `ooc-run` takes it. `name`: the argument, for the message.
std::uint64_t bytes_in(std::string_view text, std::string_view name) {
  try {
    return ooc_run::parse_bytes(text);
  } catch (const ooc::Error& error) {
    throw ooc::Error(error.kind(),
                     std::string(name) + "='" + std::string(text) + "' " + error.what(),
                     error.details());
  }
}

/// Returns the `run` object that `ooc-run --json` prints.
std::string run_json(const RunStats& run) {
  ooc_run::Document document;
  ooc_run::append_json(document,
                       ooc_run::describe_run(run.stats, run.writes,
                                             ooc_run::sentences_of(run.stats.layout.reasons), ""));
  return document.text();
}

ooc::Target target_of(const std::filesystem::path& path, const std::optional<std::string>& dtype,
                      std::vector<std::uint64_t> shape, bool replace) {
  ooc::Target target{.path = path, .shape = std::move(shape), .replace = replace};
  if (dtype) target.type = ooc::parse_dtype(*dtype);
  return target;
}

nb::tuple convert(const Input& input, const std::filesystem::path& path,
                  const std::optional<std::string>& dtype, std::vector<std::uint64_t> shape,
                  bool strict, bool clip, bool replace, const Machine& machine,
                  const nb::object& progress) {
  const ooc::Target target = target_of(path, dtype, std::move(shape), replace);
  auto [found, stats] = run_on(input, machine, progress,
                               [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
                                 return ooc::convert(coordinator, *input.source, target,
                                                     {.strict = strict, .clip = clip}, pass);
                               });
  return nb::make_tuple(found.count, found.overflowed, RunStats{std::move(stats), true});
}

nb::tuple matmul(const Input& a, const Input& b, const std::filesystem::path& path, bool replace,
                 const Machine& machine, const nb::object& progress) {
  const ooc::Target target = target_of(path, {}, {}, replace);
  auto result = run_on(a, machine, progress,
                       [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
                         return ooc::matmul(coordinator, *a.source, *b.source, target, {}, pass);
                       });
  return nb::make_tuple(ooc::code_of(ooc::product_type(*a.source)),
                        RunStats{std::move(result.stats), true});
}

/// Copies elements to memory, each to its place.
template <class T>
struct CopyTo {
  using Input = T;
  using Partial = std::uint64_t;  // elements
  static constexpr ooc::Merge merge_order = ooc::Merge::unordered;
  static constexpr ooc::DeviceKind runs_on = ooc::DeviceKind::cpu;

  std::byte* memory;
  std::uint64_t first;  // index of the element that belongs to its beginning

  void consume(ooc::Stream&, ooc::DeviceChunk<const T> in, Partial& copied) const {
    std::memcpy(memory + (in.first - first) * sizeof(T), in.data, in.size * sizeof(T));
    copied += in.size;
  }
  void merge(Partial& total, const Partial& part) const { total += part; }
};

/// Copies all elements to `bytes` bytes of memory at `address`; structs as they are in the file.
RunStats read_into(const Input& input, std::uintptr_t address, std::uint64_t bytes, Machine machine,
                   const nb::object& progress) {
  machine.devices = {-1};
  const ooc::Source& source = *input.source;
  if (bytes != source.elements() * size_of(source.type().value_or(ooc::DType{}))) {
    throw ooc::Error(ooc::ErrorKind::internal, source.name() + ": has another size");
  }
  auto* const memory = reinterpret_cast<std::byte*>(address);
  const std::uint64_t elements_before = source.bytes_before() / source.element_bytes();
  return run_on(
      input, machine, progress,
      [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) -> RunStats {
        if (source.type() && source.type()->is_struct()) {
          return {
              ooc::fold(coordinator, CopyTo<std::byte>{memory, source.bytes_before()}, source, pass)
                  .stats};
        }
        return ooc::visit(source.element(), [&]<class T>(std::type_identity<T>) {
          return RunStats{
              ooc::fold(coordinator, CopyTo<T>{memory, elements_before}, source, pass).stats};
        });
      });
}

}  // namespace

void bind_passes(nb::module_& module) {
  nb::class_<Machine>(module, "Machine")
      .def(nb::init<std::vector<int>, std::size_t, std::size_t, std::size_t, std::size_t>(),
           nb::arg("devices"), nb::arg("memory"), nb::arg("vram"), nb::arg("threads"),
           nb::arg("streams") = 0);
  nb::class_<RunStats>(module, "RunStats")
      .def_prop_ro("passes", [](const RunStats& run) { return run.stats.outcome.passes; })
      .def_prop_ro("seconds", [](const RunStats& run) { return run.stats.timing.seconds; })
      .def_prop_ro("nbytes", [](const RunStats& run) { return run.stats.outcome.bytes; })
      .def("json", run_json);
  module.def("convert", convert, nb::arg("input"), nb::arg("path"), nb::arg("dtype").none(),
             nb::arg("shape"), nb::arg("strict"), nb::arg("clip"), nb::arg("replace"),
             nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def convert(input: Input, path: str, dtype: str | None, shape: "
                     "Sequence[int], strict: bool, clip: bool, replace: bool, machine: Machine, "
                     "progress: object | None) -> tuple[int, int, RunStats]"));
  module.def("matmul", matmul, nb::arg("a"), nb::arg("b"), nb::arg("path"), nb::arg("replace"),
             nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def matmul(a: Input, b: Input, path: str, replace: bool, machine: Machine, "
                     "progress: object | None) -> tuple[str, RunStats]"));
  module.def("read_into", read_into, nb::arg("input"), nb::arg("address"), nb::arg("bytes"),
             nb::arg("machine"), nb::arg("progress").none());
  module.def(
      "code_of",
      [](std::string_view code) {
        return code == bool_code ? std::string(code) : ooc::code_of(type_of(code));
      },
      nb::arg("code"));
  module.def("bytes_in", bytes_in, nb::arg("text"), nb::arg("name"));
  module.def("end_calls", [] { Calls::all().end(); });
  module.def("gpus", [] { return ooc::detail::cuda_facts().gpus.size(); });
  module.attr("version") = OOC_PYTHON_VERSION;
}

}  // namespace ooc_python
