#include <nanobind/stl/pair.h>

#include <cstdint>
#include <filesystem>
#include <ooc/filter_by.hpp>
#include <ooc/reduce.hpp>
#include <ooc/running.hpp>
#include <optional>
#include <string>
#include <utility>

#include "bindings.hpp"
#include "run.hpp"
#include "run_on.hpp"

namespace ooc_python {
namespace {

/// An end of a range: a number, and whether it is in the range; or None.
using End = std::optional<std::pair<nb::object, bool>>;

ooc::Scalar scalar_of(const nb::object& number) {
  if (nb::isinstance<nb::float_>(number)) return nb::cast<double>(number);
  std::int64_t value = 0;
  if (nb::try_cast(number, value)) return ooc::int128{value};
  return ooc::int128{nb::cast<std::uint64_t>(number)};
}

std::optional<ooc::RangeEnd> end_of(const End& end) {
  if (!end) return {};
  return ooc::RangeEnd{scalar_of(end->first), end->second};
}

ooc::Target target_of(const std::filesystem::path& path, bool overwrite) {
  return {.path = path, .replace = overwrite};
}

void filter(const Input& input, const End& lower, const End& upper, std::string column,
            const Input* mask, const std::filesystem::path& out,
            const std::optional<std::filesystem::path>& rest, bool indices, bool overwrite,
            const Machine& machine, const nb::object& progress) {
  ooc::FilterRule rule = ooc::FilterByRange{end_of(lower), end_of(upper), std::move(column)};
  if (mask != nullptr) rule = ooc::FilterByMask{mask->source.get()};
  ooc::FilterTargets targets{.kept = target_of(out, overwrite), .indices = indices};
  if (rest) targets.rest = target_of(*rest, overwrite);
  run_on(input, machine, progress,
         [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
           return ooc::filter_by(coordinator, rule, *input.source, targets, pass);
         });
}

/// Returns the code of the results.
std::string running(const Input& input, const std::filesystem::path& out, const std::string& value,
                    bool exclusive, bool overwrite, const Machine& machine,
                    const nb::object& progress) {
  const ooc::RunningOptions options{.value = value == "min"   ? ooc::RunningValue::minimum
                                             : value == "max" ? ooc::RunningValue::maximum
                                                              : ooc::RunningValue::sum,
                                    .exclusive = exclusive};
  run_on(
      input, machine, progress, [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
        return ooc::running(coordinator, *input.source, target_of(out, overwrite), options, pass);
      });
  return ooc::code_of(ooc::DType{ooc::running_type(input.source->element(), options.value)});
}

/// Returns the code of the results. `value`: the number of a RowValue.
std::string reduce_rows(const Input& input, const std::filesystem::path& out, unsigned value,
                        bool omit_nan, bool overwrite, const Machine& machine,
                        const nb::object& progress) {
  const ooc::ReduceRowsOptions options{
      .value = static_cast<ooc::RowValue>(value),
      .nan = omit_nan ? ooc::NanPolicy::omit : ooc::NanPolicy::propagate};
  run_on(input, machine, progress,
         [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
           return ooc::reduce_rows(coordinator, *input.source, target_of(out, overwrite), options,
                                   pass);
         });
  return ooc::code_of(ooc::DType{ooc::row_value_type(input.source->element(), options.value)});
}

}  // namespace

void bind_outputs(nb::module_& module) {
  module.def("filter", filter, nb::arg("input"), nb::arg("lower").none(), nb::arg("upper").none(),
             nb::arg("column"), nb::arg("mask").none(), nb::arg("out"), nb::arg("rest").none(),
             nb::arg("indices"), nb::arg("overwrite"), nb::arg("machine"),
             nb::arg("progress").none(),
             nb::sig("def filter(input: Input, lower: tuple[int | float, bool] | None, upper: "
                     "tuple[int | float, bool] | None, column: str, mask: Input | None, out: str, "
                     "rest: str | None, indices: bool, overwrite: bool, machine: Machine, "
                     "progress: object | None) -> None"));
  module.def("reduce_rows", reduce_rows, nb::arg("input"), nb::arg("out"), nb::arg("value"),
             nb::arg("omit_nan"), nb::arg("overwrite"), nb::arg("machine"),
             nb::arg("progress").none(),
             nb::sig("def reduce_rows(input: Input, out: str, value: int, omit_nan: bool, "
                     "overwrite: bool, machine: Machine, progress: object | None) -> str"));
  module.def("running", running, nb::arg("input"), nb::arg("out"), nb::arg("value"),
             nb::arg("exclusive"), nb::arg("overwrite"), nb::arg("machine"),
             nb::arg("progress").none(),
             nb::sig("def running(input: Input, out: str, value: str, exclusive: bool, overwrite: "
                     "bool, machine: Machine, progress: object | None) -> str"));
}

}  // namespace ooc_python
