#include <fmt/core.h>
#include <ooc/io/error.hpp>
#include <ooc/kernels/convert.hpp>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "output_file_options.hpp"
#include "run_plan.hpp"
#include "session.hpp"
#include "sizes.hpp"
#include "terminal.hpp"

namespace ooc_run {
namespace {

constexpr const char* example = "ooc-run convert IN -o OUT --to f2";

ooc::Target read_target(const Arguments& arguments) {
  ooc::Target target;
  target.path = read_output_path(arguments, example);
  const std::optional<ooc::DType> type = read_output_type(arguments, "to", target.path);
  if (!type) throw ooc::Error(ooc::Cause::usage, "to which type? No --to", {.hint = example});
  target.type = *type;
  target.shape = arguments.get("shape", parse_shape).value_or(target.shape);
  if (!target.shape.empty() && !target.is_npy()) {
    throw ooc::Error(ooc::Cause::usage,
                     fmt::format("{}: only a .npy file has a shape", target.path.string()),
                     {.hint = "leave out --shape, or let the name end in .npy"});
  }
  target.replace = arguments.has("force");
  return target;
}

std::string describe_inexact(std::uint64_t inexact) {
  if (inexact == 0) return "every value survived exactly";
  return format_count(inexact, "value") + " did not survive exactly";
}

}  // namespace

Outcome run_convert(const Arguments& arguments, const Interrupt& interrupt) {
  const RunSettings settings = read_run_settings(arguments);
  const ooc::Target target = read_target(arguments);
  const ooc::ConvertOptions options{.strict = arguments.has("strict")};
  const ooc::Source source = open_source(arguments, settings);
  if (arguments.has("explain")) {
    return explain(
        "convert", settings, source, plan_convert(settings, source, target),
        {.facts = {{"output", fmt::format("{}: {}", printable(target.path.string()),
                                          describe_values(count_of(source), target.type))}}});
  }
  Session session(settings, interrupt, convert_task(source));
  const auto [conversion, stats] = ooc::convert(session.coordinator(), source, target, options);
  return session.report(
      {.command = "convert",
       .input = describe_input(source, settings.format),
       .result = {{"count", conversion.count},
                  {"from", ooc::code_of(source.type().value_or(ooc::DType{}))},
                  {"to", ooc::code_of(target.type)},
                  {"inexact", conversion.inexact},
                  {"bytes_written", stats.bytes_written}},
       .heading = heading(source),
       .text = fmt::format("wrote {}: {}, {}\n{}\n", printable(target.path.string()),
                           describe_values(conversion.count, target.type),
                           format_bytes(stats.bytes_written), describe_inexact(conversion.inexact)),
       .writes = true},
      stats);
}

}  // namespace ooc_run
