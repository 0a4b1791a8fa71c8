#include <fmt/core.h>
#include <ooc/detail/kernels/convert.hpp>
#include <ooc/error.hpp>

#include <nlohmann/json.hpp>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "commands/commands.hpp"
#include "dataset/type_doubt.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// True if type `from` has numbers beyond the range of type `floating`.
bool reaches_beyond(ooc::ElementType from, ooc::ElementType floating) {
  using enum ooc::ElementType;
  if (floating == f2) return from != u1 && from != i1 && from != i2;
  return from == f8 || (from == f4 && floating == bf16);
}

/// Returns what may have happened to the values that changed, by the rules of ooc::convert() for
/// these types. Counting each kind would cost the loops a tenth of their time, and those for old
/// processors most of it.
std::string_view describe_loss(ooc::ElementType from, ooc::ElementType to) {
  if (is_float(to)) {
    return reaches_beyond(from, to) ? "rounded (or overflowed)" : "rounded";
  }
  if (!is_float(from)) return "out of range and wrapped around";
  return "cut to integers (out of range: the nearest one; NaN: 0)";
}

std::string describe_inexact(std::uint64_t inexact, ooc::ElementType from, ooc::ElementType to) {
  if (inexact == 0) return "lossless";
  return fmt::format("{} {} {}", format_count(inexact, "value"), inexact == 1 ? "was" : "were",
                     describe_loss(from, to));
}

}  // namespace

Outcome run(const ConvertRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::Source source = open_numbers(settings);
  const ooc::DType from = source.type().value_or(ooc::DType{});
  ooc::Target target = request.target;
  target.type = request.type.value_or(from);
  if (settings.explain) {
    const Explanation explanation = explain_convert(settings, source, target);
    Remarks remarks = remarks_on(explanation, settings);
    remarks.facts.insert(remarks.facts.begin(),
                         {"output", fmt::format("{}: {}", printable(target.path.string()),
                                                describe_values(count_of(source), target.type))});
    return explain("convert", settings, source, explanation, remarks);
  }
  Session session(settings, interrupt, convert_task(source));
  session.warn(type_doubt(source, settings.format));
  const auto [conversion, stats] =
      ooc::convert(session.coordinator(), source, target, request.options, session.pass());
  const std::uint64_t bytes = conversion.count * ooc::size_of(target.type.element);
  Outcome outcome = session.report(
      {.command = "convert",
       .input = describe_input(source, settings.format),
       .result = {{"count", conversion.count},
                  {"from", ooc::code_of(from)},
                  {"to", ooc::code_of(target.type)},
                  {"inexact", conversion.inexact},
                  {"path", target.path.string()},
                  {"bytes_written", bytes}},
       .heading = heading(source),
       .text = fmt::format("wrote {}: {}, {}\n{}\n", printable(target.path.string()),
                           describe_values(conversion.count, target.type), format_bytes(bytes),
                           describe_inexact(conversion.inexact, from.element, target.type.element)),
       .writes = true},
      stats);
  outcome.written = printable(target.path.string());
  return outcome;
}

}  // namespace ooc_run
