#include <fmt/core.h>
#include <ooc/running.hpp>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "commands/commands.hpp"
#include "dataset/type_doubt.hpp"
#include "request/output_file.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

std::string_view name_of(ooc::RunningValue value) {
  switch (value) {
    case ooc::RunningValue::sum: return "sum";
    case ooc::RunningValue::minimum: return "min";
    case ooc::RunningValue::maximum: return "max";
  }
  __builtin_unreachable();
}

}  // namespace

Outcome run(const ScanRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const ooc::Source source = open_numbers(settings);
  ooc::Target target = request.target;
  const ooc::ElementType made = ooc::running_type(source.element(), request.options.value);
  target.type = made;
  target.type->is_bool =
      request.options.value != ooc::RunningValue::sum && source.type() && source.type()->is_bool;
  require_ending(target.path, made, "the results are");
  if (settings.explain) {
    const Explanation explanation =
        explain_run(settings, scan_task(source), [&](ooc::DeviceKind device) {
          return ooc::dry_run_running(settings.options, device, source, target, request.options,
                                      wanted_of(settings));
        });
    const std::string output = fmt::format("{}: {}", printable(target.path.string()),
                                           describe_values(source.elements(), *target.type));
    return explain("scan", settings, source, explanation,
                   remarks_on(explanation, settings, output));
  }
  Session session(settings, interrupt, scan_task(source), settings.verify ? 1 : 0);
  session.warn(type_doubt(source, settings.format));
  const auto [count, stats] =
      ooc::running(session.coordinator(), source, target, request.options, session.pass());
  const Verified verified = session.verify_file("scan", target.path, stats, [&] {
    const ooc::Source made_file = ooc::open(target.path, {.type = target.type});
    ooc::verify_running(session.coordinator(), source, made_file, request.options, session.pass());
  });
  const std::uint64_t bytes = count * ooc::size_of(made);
  Json result{{"value", name_of(request.options.value)},
              {"exclusive", request.options.exclusive},
              {"count", count},
              {"to", ooc::code_of(*target.type)},
              {"path", target.path.string()},
              {"bytes_written", bytes}};
  return session.report_files(
      {.command = "scan",
       .result = answer(std::move(result), stats, verified),
       .text = fmt::format("wrote {}: {}running {}, {}, {}\n", printable(target.path.string()),
                           request.options.exclusive ? "exclusive " : "",
                           name_of(request.options.value), describe_values(count, *target.type),
                           format_bytes(bytes)) +
               verified_line(verified.seconds),
       .writes = true},
      source, printable(target.path.string()), stats, verified);
}

}  // namespace ooc_run
