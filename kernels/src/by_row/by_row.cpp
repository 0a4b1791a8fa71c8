#include <ooc/reduce.hpp>

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/error.hpp>
#include <ooc/map.hpp>
#include <ooc/running.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/raw_element.hpp"
#include "base/written_values.hpp"
#include "by_row/rows.hpp"

namespace ooc {

using namespace detail;
using by_row::Question;

namespace {

template <std::size_t output_bytes>
struct ReducingRows {
  using Input = std::byte;  // a row
  using Output = RawElement<output_bytes>;
  static constexpr std::string_view partial_name = "ooc.reduce_rows/1";

  Question asked;

  void transform(Stream& stream, DeviceChunk<const std::byte> in, DeviceSpan<Output> out) const {
    const by_row::Rows rows{in.data, in.size, reinterpret_cast<std::byte*>(out.data)};
    if (stream.kind() == DeviceKind::cuda) {
      reduce_rows_cuda(stream, asked, rows);
    } else {
      reduce_rows_cpu(asked, rows);
    }
  }

  std::string question() const {
    constexpr std::array<std::string_view, 8> values{"sum",    "mean",   "minimum",  "maximum",
                                                     "argmin", "argmax", "variance", "stddev"};
    const auto& [value, nan] = asked.options;
    return std::string(values[static_cast<std::size_t>(value)]) + " of " +
           std::to_string(asked.columns) + " " + std::string(name_of(asked.type)) +
           (nan == NanPolicy::omit ? " without NaN" : "");
  }
};

/// A job: its data, the question, and the target with the type of the results.
struct Job {
  std::array<PassInput, 1> inputs;
  Question asked;
  std::uint64_t rows;
  Target target;

  Job(const Source& source, const Target& wanted, const ReduceRowsOptions& options)
      : inputs{rows_of(source)},
        asked{source.element(), inputs.front().record.bytes / size_of(source.element()), options},
        rows(source.elements() / asked.columns),
        target(target_of_values(wanted, row_value_type(asked.type, options.value), source, rows)) {
    use_device_memory(inputs);
  }

  /// Calls run(operator) with the operator for the size of the results.
  template <class Run>
  auto with_operator(const Run& run) const {
    switch (size_of(target.type->element)) {
      case 1: return run(ReducingRows<1>{asked});
      case 2: return run(ReducingRows<2>{asked});
      case 4: return run(ReducingRows<4>{asked});
      default: return run(ReducingRows<8>{asked});
    }
  }

 private:
  static PassInput rows_of(const Source& source) {
    require_numbers_in_order(source);
    const std::size_t bytes = size_of(source.element());
    return stored_input(source, {row_bytes_of(source, bytes), bytes});
  }
};

}  // namespace

ElementType row_value_type(ElementType type, RowValue value) {
  switch (value) {
    case RowValue::sum: return running_type(type, RunningValue::sum);
    case RowValue::minimum:
    case RowValue::maximum: return type;
    case RowValue::argmin:
    case RowValue::argmax: return ElementType::i8;
    case RowValue::mean:
    case RowValue::variance:
    case RowValue::stddev: return ElementType::f8;
  }
  __builtin_unreachable();
}

Result<std::uint64_t> reduce_rows(Coordinator& coordinator, const Source& source,
                                  const Target& target, const ReduceRowsOptions& options,
                                  const PassOptions& wanted) {
  const Job job(source, target, options);
  return job.with_operator([&]<class Op>(const Op& op) {
    return written_by<Map<Op>>(coordinator, op, job.inputs, job.target, wanted);
  });
}

Stats dry_run_reduce_rows(const Options& machine, DeviceKind device, const Source& source,
                          const Target& target, const ReduceRowsOptions& options,
                          const PassOptions& wanted) {
  const Job job(source, target, options);
  return job.with_operator([&]<class Op>(const Op& op) {
    const Map<Op> operation(op, facts_of(device), job.inputs.front().record.bytes);
    return dry_run_values(machine, device, job.inputs.front(), job.target, job.rows, wanted,
                          &operation);
  });
}

}  // namespace ooc
