#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <ooc/convert.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/gram.hpp>
#include <ooc/records.hpp>
#include <string>
#include <vector>

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

/// Checks that the matrix can be written, before it is computed.
void require_target(const ooc::Target& target, const ooc::Source& source) {
  const std::uint64_t elements = target.shape[0] * target.shape[1];
  ooc::detail::TargetFile(target, elements, std::array{&source}, ooc::detail::Purpose::dry_run);
}

void write(const std::vector<double>& matrix, const ooc::Target& target,
           const RunSettings& settings, const Interrupt& interrupt) {
  ooc::Coordinator coordinator(ooc::make_device(ooc::DeviceKind::cpu), settings.options);
  ooc::convert(coordinator, ooc::from_memory(matrix, target.shape[1]), target, {},
               {.stop = interrupt.token()});
}

std::string check_line(const Verified& verified) {
  if (!verified.seconds) return "";
  return fmt::format("\n  verified  yes: with random vectors, on the CPU, {}\n",
                     format_seconds(*verified.seconds));
}

}  // namespace

Outcome run(const GramRequest& request, const Interrupt& interrupt) {
  const RunSettings& settings = request.run;
  const bool is_covariance = request.options.covariance;
  const std::string command = is_covariance ? "cov" : "gram";
  ooc::Source source = open_numbers(settings);
  require_whole_rows(source, settings);
  const std::uint64_t columns = set_columns(source, request.columns);
  ooc::Target target = request.target;
  target.type = ooc::ElementType::f8;
  target.shape = {columns, columns};
  require_ending(target.path, ooc::ElementType::f8, "the matrix is");
  const std::string made = fmt::format("{0} x {0} values of float64", columns);
  if (settings.explain) {
    const Explanation explanation =
        explain_run(settings, gram_task(source), [&](ooc::DeviceKind device) {
          return ooc::dry_run_gram(settings.options, device, source, request.options,
                                   wanted_of(settings));
        });
    require_target(target, source);
    const std::string output = fmt::format("{}: {}", printable(target.path.string()), made);
    return explain(command, settings, source, explanation,
                   remarks_on(explanation, settings, output));
  }
  Session session(settings, interrupt, gram_task(source), settings.verify ? 2 : 0);
  session.warn(type_doubt(source, settings.format));
  // Refuses too many columns before their square is asked for.
  ooc::dry_run_gram(settings.options, session.device().kind(), source, request.options);
  require_target(target, source);
  const auto [matrix, stats] =
      ooc::gram(session.coordinator(), source, request.options, session.pass());
  write(matrix, target, settings, interrupt);
  const Verified verified = session.verify_file(command, target.path, stats, [&] {
    const ooc::Source found = ooc::open(target.path, {.type = target.type});
    ooc::verify_gram(session.coordinator(), source, found, request.options, session.pass());
  });
  const std::uint64_t bytes = matrix.size() * sizeof(double);
  Json result{{"rows", stats.outcome.records},
              {"columns", columns},
              {"path", target.path.string()},
              {"bytes_written", bytes}};
  const std::string text =
      fmt::format("wrote {}: {} of {}, {}, {}\n", printable(target.path.string()),
                  is_covariance ? "covariances" : "products", format_count(columns, "column"), made,
                  format_bytes(bytes));
  return session.report_files({.command = command,
                               .result = answer(std::move(result), stats, verified),
                               .text = text + check_line(verified)},
                              source, printable(target.path.string()), stats, verified);
}

}  // namespace ooc_run
