#include <ooc/running.hpp>

#include <ooc/detail/inputs/input_type.hpp>
#include <ooc/error.hpp>
#include <ooc/scan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/raw_element.hpp"
#include "base/written_values.hpp"
#include "scan/rules.hpp"

namespace ooc {

using namespace detail;
using scanning::Question;

namespace {

template <std::size_t input_bytes, std::size_t output_bytes>
struct Scanning {
  using Input = RawElement<input_bytes>;
  using Output = RawElement<output_bytes>;
  using Carry = scanning::Carry;
  static constexpr std::size_t partition_records = scanning::partition_elements;
  static constexpr std::string_view partial_name = "ooc.running/1";

  Question asked;

  void begin(Stream& stream, DeviceChunk<const Input> in, DeviceSpan<Output> out,
             Carry* own) const {
    const scanning::Partition partition{reinterpret_cast<const std::byte*>(in.data), bytes_of(out),
                                        in.size};
    if (stream.kind() == DeviceKind::cuda) {
      begin_cuda(stream, asked, partition, own);
    } else {
      begin_cpu(asked, partition, *own);
    }
  }

  void join(Stream& stream, const Carry* before, const Carry* own, Carry* after) const {
    if (stream.kind() == DeviceKind::cuda) {
      join_cuda(stream, asked, before, own, after);
    } else {
      join_cpu(asked, *before, *own, *after);
    }
  }

  void finish(Stream& stream, DeviceSpan<Output> out, const Carry* before) const {
    const scanning::Partition partition{nullptr, bytes_of(out), out.size};
    if (stream.kind() == DeviceKind::cuda) {
      finish_cuda(stream, asked, partition, before);
    } else {
      finish_cpu(asked, partition, *before);
    }
  }

  std::string question() const {
    constexpr std::array<std::string_view, 3> values{"sum", "minimum", "maximum"};
    return std::string(asked.options.exclusive ? "exclusive " : "") +
           std::string(values[static_cast<std::size_t>(asked.options.value)]) + " of " +
           std::string(name_of(asked.type));
  }

 private:
  static std::byte* bytes_of(DeviceSpan<Output> out) {
    return reinterpret_cast<std::byte*>(out.data);
  }
};

/// The work of a dry run: partitions that are joined in order.
class DryScan final : public Operation {
 public:
  std::size_t partition() const noexcept override { return scanning::partition_elements; }
  bool in_order() const noexcept override { return true; }
  void begin(std::size_t /*lane*/, Stream& /*stream*/) override {}
  void process(std::size_t /*lane*/, Stream& /*stream*/, const StepRecords& /*in*/,
               const StepResults& /*out*/) override {}
  void end(std::size_t /*lane*/, Stream& /*stream*/) override {}
};

Question question_about(const Source& source, const RunningOptions& options) {
  if (options.exclusive && options.value != RunningValue::sum) {
    throw Error(ErrorKind::usage, "an exclusive minimum or maximum has no first value",
                {.why = "no element is before the first one",
                 .remedies = {{RemedyAction::unset, "RunningOptions::exclusive"}}});
  }
  require_numbers_in_order(source);
  return {source.element(), options};
}

/// Returns the target with the type of the results.
Target shaped_for(const Source& source, const Question& asked, const Target& target) {
  const ElementType made = running_type(asked.type, asked.options.value);
  return target_of_values(target, made, source, source.elements());
}

}  // namespace

ElementType running_type(ElementType type, RunningValue value) {
  if (value != RunningValue::sum) return type;
  return visit(type, []<class T>(std::type_identity<T>) {
    return element_type_of<typename scanning::SumRule<T>::Value>();
  });
}

Result<std::uint64_t> running(Coordinator& coordinator, const Source& source, const Target& target,
                              const RunningOptions& options, const PassOptions& wanted) {
  const Question asked = question_about(source, options);
  const Target shaped = shaped_for(source, asked, target);
  const auto run = [&]<std::size_t input_bytes, std::size_t output_bytes>() {
    return scan(coordinator, Scanning<input_bytes, output_bytes>{asked}, source, shaped, wanted);
  };
  const bool sums = options.value == RunningValue::sum;
  switch (size_of(asked.type)) {
    case 1: return sums ? run.operator()<1, 8>() : run.operator()<1, 1>();
    case 2: return sums ? run.operator()<2, 8>() : run.operator()<2, 2>();
    case 4: return sums ? run.operator()<4, 8>() : run.operator()<4, 4>();
    default: return run.operator()<8, 8>();
  }
}

Stats dry_run_running(const Options& machine, DeviceKind device, const Source& source,
                      const Target& target, const RunningOptions& options,
                      const PassOptions& wanted) {
  const Target shaped = shaped_for(source, question_about(source, options), target);
  const PassInput input = stored_input(source, size_of(source.element()));
  const DryScan operation;
  return dry_run_values(machine, device, input, shaped, source.elements(), wanted, &operation);
}

}  // namespace ooc
