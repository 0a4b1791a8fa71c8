#include <ooc/split_by.hpp>

#include <ooc/split.hpp>

#include <variant>

#include "split/divided.hpp"
#include "split/rules.hpp"

namespace ooc {

using namespace detail;
using namespace detail::splitting;
namespace {

/// True if the records are rows. A value, or the field of a struct, is that of a single element.
bool divides_rows(const Source& source, const SplitRule& rule) {
  const bool is_struct = has_fields(source);
  const bool by_value = std::holds_alternative<SplitByValue>(rule);
  const bool by_field = std::holds_alternative<SplitByColumn>(rule) && is_struct;
  return !by_value && !by_field && source.columns() != 1u;
}

Assigning operator_of(const SplitRule& rule, const Source& source, std::size_t outputs) {
  return {choice_of(rule, source, outputs), words_of(rule, outputs), source.name(), outputs};
}

}  // namespace

Result<std::vector<std::uint64_t>> split_by(Coordinator& coordinator, const SplitRule& rule,
                                            const Source& source, std::span<const Target> targets,
                                            const PassOptions& wanted) {
  const Assigning op = operator_of(rule, source, targets.size());
  const Divided divided = divide(source, divides_rows(source, rule), targets);
  return split_inputs(coordinator, op, divided.inputs, divided.made, divided.targets, wanted);
}

Stats dry_run_split_by(const Options& options, DeviceKind device, const SplitRule& rule,
                       const Source& source, std::span<const Target> targets,
                       const PassOptions& wanted) {
  const Assigning op = operator_of(rule, source, targets.size());
  return dry_run(options, device, op, divide(source, divides_rows(source, rule), targets), wanted);
}

}  // namespace ooc
