#include <fmt/core.h>
#include <ooc/filter_by.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "commands/commands.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Ranges of values need numbers, which a stream can give; other rules take structs, too.
ooc::Source open_data(const FilterRequest& request, const Interrupt& interrupt) {
  const auto& [range, mask, targets] = request.filter;
  if (!mask && range.column.empty()) return open_input(request.run, interrupt);
  return open_records(request.run);
}

std::optional<ooc::Source> open_mask(const FilterSettings& settings) {
  if (!settings.mask) return {};
  return ooc::open(files_of({&*settings.mask, 1}));
}

/// True if a type has a value. Integers of 64 bits are exact in a long double.
bool has_value(ooc::ElementType type, long double value) {
  return ooc::visit(type, [&]<class T>(std::type_identity<T>) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_integral_v<T>) {
      return std::floor(value) == value && value >= static_cast<long double>(Limits::lowest()) &&
             value <= static_cast<long double>(Limits::max());
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isinf(value)) return true;
      return std::abs(value) <= Limits::max() &&
             static_cast<long double>(static_cast<T>(value)) == value;
    } else {
      for (unsigned bits = 0; bits <= 0xffff; ++bits) {
        if (static_cast<long double>(ooc::to_double(T{static_cast<std::uint16_t>(bits)})) == value)
          return true;
      }
      return false;
    }
  });
}

/// Returns a warning if the only value that is kept is none of the type, such as 0.1 of float32.
std::string no_such_value(const ooc::FilterByRange& range, const ooc::Source& source) {
  if (!range.lower || !range.upper || range.upper->value != range.lower->value) return {};
  const ooc::Scalar& value = range.lower->value;
  const long double exact = value.is_integer()
                                ? static_cast<long double>(std::get<ooc::int128>(value))
                                : static_cast<long double>(value.value());
  ooc::ElementType type = source.element();
  if (source.type() && source.type()->is_struct()) {
    const auto& fields = source.type()->fields;
    type = std::ranges::find(fields, range.column, &ooc::Field::name)->element;
  }
  if (has_value(type, exact)) return {};
  return fmt::format("no value of {} is {}, so nothing was kept: --between takes two ends",
                     ooc::name_of(type), to_string(value));
}

std::string describe_output(const ooc::Target& target, std::uint64_t records, std::uint64_t all,
                            std::string_view noun) {
  const double percent =
      all == 0 ? 0 : 100 * static_cast<double>(records) / static_cast<double>(all);
  return fmt::format("wrote {}: {} of {} ({:.3g} %)\n", printable(target.path.string()),
                     group_digits(std::to_string(records)), format_count(all, noun), percent);
}

std::string describe_files(const ooc::FilterTargets& targets) {
  const std::string kept = printable(targets.kept.path.string());
  return targets.rest ? kept + ", " + printable(targets.rest->path.string()) : kept;
}

/// Returns the size of the records in all files (bytes), also of those that an earlier run wrote.
std::uint64_t bytes_in_files(const ooc::Selection& found, const ooc::Source& source,
                             const ooc::FilterTargets& targets) {
  const std::uint64_t records = targets.rest ? found.seen : found.kept;
  if (records == 0) return 0;
  if (targets.indices) return records * sizeof(std::int64_t);
  const std::uint64_t elements = source.is_produced() ? 1 : source.elements() / found.seen;
  return records * elements * ooc::size_of(source.type().value_or(ooc::DType{}));
}

}  // namespace

Outcome run(const FilterRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::FilterTargets& targets = request.filter.targets;
  const ooc::Source source = open_data(request, interrupt);
  const std::optional<ooc::Source> mask = open_mask(request.filter);
  ooc::FilterRule rule = request.filter.range;
  if (mask) rule = ooc::FilterByMask{&*mask};
  if (settings.explain) {
    const auto dry_run = [&](ooc::DeviceKind device) {
      return ooc::dry_run_filter_by(settings.options, device, rule, source, targets,
                                    wanted_of(settings));
    };
    const Explanation explanation = explain_run(settings, filter_task(source), dry_run);
    return explain(
        "filter", settings, source, explanation,
        remarks_on(explanation, settings, describe_files(targets) + ": at most all that is read"));
  }
  Session session(settings, interrupt, filter_task(source), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [found, stats] =
      ooc::filter_by(session.coordinator(), rule, source, targets, session.pass());
  session.warn(no_such_value(request.filter.range, source));
  const Verified verified =
      session.verify_file("filter", targets.kept.path, stats, [&, &found = found] {
        ooc::verify_filter_by(session.coordinator(), rule, source, targets, found, session.pass());
      });
  const bool of_values = !(source.type() && source.type()->is_struct()) &&
                         (source.is_produced() || found.seen == source.elements());
  const std::string_view noun = of_values ? "value" : "record";
  std::string text = describe_output(targets.kept, found.kept, found.seen, noun);
  if (targets.rest) {
    text += describe_output(*targets.rest, found.seen - found.kept, found.seen, noun);
  }
  const Json result{{"count", found.seen},
                    {"kept", found.kept},
                    {"path", targets.kept.path.string()},
                    {"rest", targets.rest ? Json(targets.rest->path.string()) : Json(nullptr)},
                    {"bytes_written", bytes_in_files(found, source, targets)}};
  return session.report_files({.command = "filter",
                               .result = answer(result, stats, verified),
                               .text = text + verified_line(verified.seconds),
                               .writes = true},
                              source, describe_files(targets), stats, verified);
}

}  // namespace ooc_run
