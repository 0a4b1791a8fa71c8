#include <algorithm>
#include <cstdint>
#include <ooc/distinct.hpp>
#include <ooc/error.hpp>
#include <ooc/gram.hpp>
#include <ooc/quantile.hpp>
#include <ooc/reduce.hpp>
#include <ooc/top.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "cli/options.hpp"
#include "run.hpp"
#include "run_on.hpp"

namespace ooc_python {
namespace {

nb::tuple reduce(const Input& input, bool omit_nan, bool exact, const Machine& machine,
                 const nb::object& progress) {
  const ooc::ReduceOptions options{
      .nan = omit_nan ? ooc::NanPolicy::omit : ooc::NanPolicy::propagate, .exact = exact};
  auto [found, stats] = run_on(input, machine, progress,
                               [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
                                 return ooc::reduce(coordinator, *input.source, options, pass);
                               });
  nb::dict values;
  values["count"] = found.count;
  values["nan"] = found.nan;
  values["inf"] = found.inf;
  values["sum"] = number(found.sum);
  values["min"] = number(found.min);
  values["max"] = number(found.max);
  values["argmin"] = number(found.argmin);
  values["argmax"] = number(found.argmax);
  values["mean"] = number(found.mean);
  values["variance"] = number(found.variance);
  values["stddev"] = number(found.stddev);
  return nb::make_tuple(values, RunStats{std::move(stats)});
}

/// Returns the number of rows and, for each statistic, a list with its value for each column.
nb::tuple reduce_columns(const Input& input, bool omit_nan, const Machine& machine,
                         const nb::object& progress) {
  const ooc::ReduceOptions options{
      .nan = omit_nan ? ooc::NanPolicy::omit : ooc::NanPolicy::propagate, .exact = false};
  auto [found, stats] = run_on(
      input, machine, progress, [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
        return ooc::reduce_columns(coordinator, *input.source, options, pass);
      });
  const auto list_of = [&columns = found](auto value_of) {
    nb::list values;
    for (const ooc::Statistics& column : columns) values.append(value_of(column));
    return values;
  };
  nb::dict values;
  values["nan"] = list_of([](const auto& column) { return nb::cast(column.nan); });
  values["inf"] = list_of([](const auto& column) { return nb::cast(column.inf); });
  values["sum"] = list_of([](const auto& column) { return number(column.sum); });
  values["min"] = list_of([](const auto& column) { return number(column.min); });
  values["max"] = list_of([](const auto& column) { return number(column.max); });
  values["argmin"] = list_of([](const auto& column) { return number(column.argmin); });
  values["argmax"] = list_of([](const auto& column) { return number(column.argmax); });
  values["mean"] = list_of([](const auto& column) { return number(column.mean); });
  values["variance"] = list_of([](const auto& column) { return number(column.variance); });
  values["stddev"] = list_of([](const auto& column) { return number(column.stddev); });
  return nb::make_tuple(found.front().count, values, RunStats{std::move(stats)});
}

/// Returns the matrix of doubles in a bytearray, which an array can own.
nb::tuple gram(const Input& input, bool covariance, const Machine& machine,
               const nb::object& progress) {
  auto [matrix, stats] = run_on(
      input, machine, progress, [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
        return ooc::gram(coordinator, *input.source, {.covariance = covariance}, pass);
      });
  PyObject* const copied =
      PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(matrix.data()),
                                    static_cast<Py_ssize_t>(matrix.size() * sizeof(double)));
  if (copied == nullptr) throw nb::python_error();
  return nb::make_tuple(nb::steal(copied), RunStats{std::move(stats)});
}

ooc::QuantileMethod method_of(const std::string& name) {
  const auto found = std::ranges::find(ooc_run::quantile_method_names, name);
  if (found == ooc_run::quantile_method_names.end()) {
    throw ooc::Error(ooc::ErrorKind::usage, "method='" + name + "' is no method",
                     {.hint = "linear, lower, higher, nearest, midpoint and others of "
                              "numpy.quantile are"});
  }
  return static_cast<ooc::QuantileMethod>(found - ooc_run::quantile_method_names.begin());
}

nb::tuple quantile(const Input& input, std::vector<double> q, const std::string& method,
                   bool omit_nan, const Machine& machine, const nb::object& progress) {
  const ooc::QuantileOptions options{
      .q = std::move(q),
      .method = method_of(method),
      .nan = omit_nan ? ooc::NanPolicy::omit : ooc::NanPolicy::propagate};
  auto [found, stats] = run_on(input, machine, progress,
                               [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
                                 return ooc::quantile(coordinator, *input.source, options, pass);
                               });
  nb::list values;
  for (const ooc::Quantile& each : found.quantiles) values.append(number(each.value));
  return nb::make_tuple(values, RunStats{std::move(stats)});
}

/// Returns values as numbers of 8 bytes, and their code.
template <class Found>
std::pair<nb::bytes, const char*> numbers_of(ooc::ElementType type,
                                             const std::vector<Found>& found) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) {
    using Integer = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    using Number = std::conditional_t<ooc::is_floating<T>, double, Integer>;
    std::vector<Number> values;
    for (const Found& each : found) {
      if constexpr (ooc::is_floating<T>)
        values.push_back(each.value.value());
      else
        values.push_back(static_cast<Number>(std::get<ooc::int128>(each.value)));
    }
    const char* const code = ooc::is_floating<T> ? "f8" : std::is_signed_v<T> ? "i8" : "u8";
    return std::pair{bytes_of(values), code};
  });
}

/// Returns values as numbers of 8 bytes, their code, and the indices.
nb::tuple top(const Input& input, std::uint64_t k, bool smallest, const Machine& machine,
              const nb::object& progress) {
  const ooc::TopOptions options{.k = k, .smallest = smallest};
  auto [found, stats] = run_on(input, machine, progress,
                               [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
                                 return ooc::top(coordinator, *input.source, options, pass);
                               });
  std::vector<std::uint64_t> indices;
  for (const ooc::TopValue& each : found.values) indices.push_back(each.index);
  const auto [values, code] = numbers_of(input.source->element(), found.values);
  return nb::make_tuple(values, code, bytes_of(indices), RunStats{std::move(stats)});
}

/// Returns the number of distinct values or its estimate, values as numbers of 8 bytes, their code,
/// and their counts.
nb::tuple distinct(const Input& input, std::uint64_t counts, bool estimate, const Machine& machine,
                   const nb::object& progress) {
  const ooc::DistinctOptions options{.counts = counts, .estimate = estimate};
  auto [found, stats] = run_on(input, machine, progress,
                               [&](ooc::Coordinator& coordinator, const ooc::PassOptions& pass) {
                                 return ooc::distinct(coordinator, *input.source, options, pass);
                               });
  std::vector<std::uint64_t> having;
  for (const ooc::DistinctValue& each : found.values) having.push_back(each.count);
  const auto [values, code] = numbers_of(input.source->element(), found.values);
  const auto rounded = static_cast<std::uint64_t>(std::llround(found.estimate));
  return nb::make_tuple(found.distinct.value_or(rounded), values, code, bytes_of(having),
                        RunStats{std::move(stats)});
}

}  // namespace

void bind_statistics(nb::module_& module) {
  module.def("reduce", reduce, nb::arg("input"), nb::arg("omit_nan"), nb::arg("exact"),
             nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def reduce(input: Input, omit_nan: bool, exact: bool, machine: Machine, "
                     "progress: object | None) -> tuple[dict[str, typing.Any], RunStats]"));
  module.def("reduce_columns", reduce_columns, nb::arg("input"), nb::arg("omit_nan"),
             nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def reduce_columns(input: Input, omit_nan: bool, machine: Machine, progress: "
                     "object | None) -> tuple[int, dict[str, list[typing.Any]], RunStats]"));
  module.def("gram", gram, nb::arg("input"), nb::arg("covariance"), nb::arg("machine"),
             nb::arg("progress").none(),
             nb::sig("def gram(input: Input, covariance: bool, machine: Machine, progress: object "
                     "| None) -> tuple[bytearray, RunStats]"));
  module.def("quantile", quantile, nb::arg("input"), nb::arg("q"), nb::arg("method"),
             nb::arg("omit_nan"), nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def quantile(input: Input, q: Sequence[float], method: str, omit_nan: bool, "
                     "machine: Machine, progress: object | None) -> tuple[list[int | float | "
                     "None], RunStats]"));
  module.def("top", top, nb::arg("input"), nb::arg("k"), nb::arg("smallest"), nb::arg("machine"),
             nb::arg("progress").none(),
             nb::sig("def top(input: Input, k: int, smallest: bool, machine: Machine, progress: "
                     "object | None) -> tuple[bytes, str, bytes, RunStats]"));
  module.def("distinct", distinct, nb::arg("input"), nb::arg("counts"), nb::arg("estimate"),
             nb::arg("machine"), nb::arg("progress").none(),
             nb::sig("def distinct(input: Input, counts: int, estimate: bool, machine: Machine, "
                     "progress: object | None) -> tuple[int, bytes, str, bytes, RunStats]"));
}

}  // namespace ooc_python
