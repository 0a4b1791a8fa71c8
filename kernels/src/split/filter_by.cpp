#include <ooc/filter_by.hpp>

#include <ooc/error.hpp>
#include <ooc/split.hpp>

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "split/divided.hpp"
#include "split/rules.hpp"

namespace ooc {

using namespace detail;
using namespace detail::splitting;
namespace {

std::vector<Target> targets_of(const FilterTargets& targets) {
  std::vector<Target> all{targets.kept};
  if (targets.rest) all.push_back(*targets.rest);
  return all;
}

bool has_rows(const Source& source) {
  return !source.columns() || !source.row_shape().empty();
}

/// True if the records are rows: those of a column, or those for which a mask of one dimension has
/// an element. Throws Error(bad_input) if the rows of a mask are not those of the source.
bool filters_rows(const Source& source, const FilterRule& rule) {
  const auto* const by_mask = std::get_if<FilterByMask>(&rule);
  const bool is_struct = has_fields(source);
  if (by_mask == nullptr) {
    return !is_struct && has_rows(source) && !std::get<FilterByRange>(rule).column.empty();
  }
  const Source& mask = *by_mask->mask;
  if (has_rows(mask) && has_rows(source) &&
      !std::ranges::equal(mask.row_shape(), source.row_shape())) {
    throw Error(ErrorKind::bad_input, mask.name() + ": has other rows than " + source.name(),
                {.why = "a mask has the shape of the data, or an element for each row"});
  }
  return !is_struct && has_rows(source) && !has_rows(mask) &&
         (mask.elements() != source.elements() || mask.elements() == source.rows());
}

/// A filter as a split into the records that fit and the rest.
struct Filtering {
  Assigning op;
  Divided divided;

  Filtering(const FilterRule& rule, const Source& source, const FilterTargets& targets)
      : op{.choice = choice_of(rule, source),
           .text = words_of(rule),
           .source = source.name(),
           .outputs = targets.rest ? 2u : 1u,
           .drops = true,
           .indices = targets.indices},
        divided(divide(source, filters_rows(source, rule), targets_of(targets))) {
    if (const auto* const by_mask = std::get_if<FilterByMask>(&rule)) {
      const std::size_t bytes = size_of(by_mask->mask->element());
      divided.inputs.push_back(stored_input(*by_mask->mask, {bytes, bytes}));
    }
    if (targets.indices) divided = with_indices(std::move(divided), targets);
    use_device_memory(divided.inputs);
  }

 private:
  static Divided with_indices(Divided divided, const FilterTargets& targets) {
    divided.targets = targets_of(targets);
    for (Target& target : divided.targets) {
      if (!target.type) target.type = ElementType::i8;
    }
    divided.made = {.element_bytes = sizeof(std::int64_t), .type = ElementType::i8, .columns = {}};
    return divided;
  }
};

}  // namespace

Result<Selection> filter_by(Coordinator& coordinator, const FilterRule& rule, const Source& source,
                            const FilterTargets& targets, const PassOptions& wanted) {
  const Filtering filtering(rule, source, targets);
  const Divided& divided = filtering.divided;
  auto [counts, stats] = split_inputs(coordinator, filtering.op, divided.inputs, divided.made,
                                      divided.targets, wanted);
  const std::uint64_t seen = stats.outcome.records;
  return {{seen, counts.front()}, std::move(stats)};
}

Stats dry_run_filter_by(const Options& options, DeviceKind device, const FilterRule& rule,
                        const Source& source, const FilterTargets& targets,
                        const PassOptions& wanted) {
  const Filtering filtering(rule, source, targets);
  return dry_run(options, device, filtering.op, filtering.divided, wanted);
}

}  // namespace ooc
