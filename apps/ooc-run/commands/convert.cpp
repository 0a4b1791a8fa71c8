#include <fmt/core.h>
#include <ooc/convert.hpp>
#include <ooc/error.hpp>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "commands/commands.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Returns the limits of a type: "float16 ends at 65504", "int8 ends at -128 and 127".
std::string describe_end(ooc::ElementType type) {
  return ooc::visit(type, [type]<class T>(std::type_identity<T>) {
    const std::string name(ooc::name_of(type));
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return fmt::format("{} ends at {} and {}", name, Limits::lowest(), Limits::max());
    } else if constexpr (std::is_arithmetic_v<T>) {
      return fmt::format("{} ends at {}", name, std::numeric_limits<T>::max());
    } else {
      constexpr std::uint16_t largest = std::is_same_v<T, ooc::Float16> ? 0x7bff : 0x7f7f;
      return fmt::format("{} ends at {}", name, static_cast<float>(T{largest}));
    }
  });
}

/// Describes the conversion of values outside a type's range that are not clipped, by the rules of
/// ooc::convert().
std::string_view describe_overflow(ooc::ElementType from, ooc::ElementType to, bool clip) {
  if (is_float(to)) return "became infinite";
  if (!is_float(from)) return "wrapped around";
  return clip ? "NaN became 0" : "out of range became the nearest integer, NaN 0";
}

/// Returns how many values changed, and how: "2,428,931 rounded; 7 wrapped around (...)".
std::string describe_losses(const ooc::Conversion& found, ooc::ElementType from,
                            ooc::ElementType to, bool clip) {
  if (found.inexact == 0) return "lossless";
  std::string text;
  const auto add = [&](std::uint64_t count, std::string_view what) {
    if (count == 0) return;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : "; ", group_digits(std::to_string(count)), what);
  };
  add(found.rounded, is_float(from) && !is_float(to) ? "cut to integers" : "rounded");
  add(found.overflowed, describe_overflow(from, to, clip));
  add(found.clipped, "clipped");
  const bool is_beyond = found.clipped != 0 || (found.overflowed != 0 && !clip);
  return is_beyond ? fmt::format("{} ({})", text, describe_end(to)) : text;
}

}  // namespace

Outcome run(const ConvertRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::Source source = open_numbers(settings);
  const ooc::DType from = source.type().value_or(ooc::DType{});
  ooc::Target target = request.target;
  const ooc::DType to = request.type.value_or(from);
  target.type = to;
  if (settings.explain) {
    const auto dry_run = [&](ooc::DeviceKind device) {
      return ooc::dry_run_convert(settings.options, device, source, target, wanted_of(settings));
    };
    const Explanation explanation = explain_run(settings, convert_task(source), dry_run);
    const std::string output = fmt::format("{}: {}", printable(target.path.string()),
                                           describe_values(source.elements(), to));
    return explain("convert", settings, source, explanation,
                   remarks_on(explanation, settings, output));
  }
  Session session(settings, interrupt, convert_task(source));
  session.warn(type_doubt(source, settings.format));
  const auto [conversion, stats] =
      ooc::convert(session.coordinator(), source, target, request.options, session.pass());
  const std::uint64_t bytes = conversion.count * ooc::size_of(to.element);
  return session.report_files(
      {.command = "convert",
       .result = {{"count", conversion.count},
                  {"from", ooc::code_of(from)},
                  {"to", ooc::code_of(to)},
                  {"inexact", conversion.inexact},
                  {"rounded", conversion.rounded},
                  {"overflowed", conversion.overflowed},
                  {"clipped", conversion.clipped},
                  {"path", target.path.string()},
                  {"bytes_written", bytes}},
       .text =
           fmt::format("wrote {}: {}, {}\n{}\n", printable(target.path.string()),
                       describe_values(conversion.count, to), format_bytes(bytes),
                       describe_losses(conversion, from.element, to.element, request.options.clip)),
       .writes = true},
      source, printable(target.path.string()), stats);
}

}  // namespace ooc_run
