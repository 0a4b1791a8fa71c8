#include "run/session.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <new>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "result/reasons.hpp"
#include "run/stall_guard.hpp"
#include "run/together.hpp"
#include "run/unfinished_start.hpp"
#include "run/verdict.hpp"

namespace ooc_run {
namespace {

/// Removes repeated sentences: each engine of a pass adds its own.
std::vector<std::string> without_repetitions(const std::vector<std::string>& sentences) {
  std::vector<std::string> rest;
  for (const std::string& sentence : sentences) {
    if (std::ranges::find(rest, sentence) == rest.end()) rest.push_back(sentence);
  }
  return rest;
}

/// Returns the error for an incomplete check, which implies nothing about the result.
ooc::Error not_verified(const ooc::Error& error) {
  const std::string what = error.kind() == ooc::ErrorKind::interrupted
                               ? error.what()
                               : fmt::format("the result was not verified: {}", error.what());
  return with_hint({error.kind(), what, error.details()},
                   "the printed result is complete, as without --verify");
}

/// More than a report without lists takes, with what libraries allocate for it (bytes).
constexpr std::size_t report_bytes = std::size_t{512} << 10;

std::unique_ptr<Trace> begin_trace(const RunSettings& settings) {
  const auto& [plot, trace, report, replace] = settings.side_files;
  if (!trace) return {};
  return std::make_unique<Trace>(TraceSettings{*trace, settings.command, replace});
}

std::unique_ptr<ReportFile> begin_report(const RunSettings& settings) {
  const auto& [plot, trace, report, replace] = settings.side_files;
  if (!report) return {};
  return std::make_unique<ReportFile>(*report, replace);
}

}  // namespace

Session::Session(const RunSettings& settings, const Interrupt& interrupt, const Task& task,
                 std::size_t checks)
    : settings_(settings),
      interrupt_(interrupt),
      room_for_report_(std::make_unique_for_overwrite<std::byte[]>(report_bytes)),
      trace_(begin_trace(settings)),
      report_file_(begin_report(settings)),
      task_(task),
      device_(choose_device(settings, task)),
      meter_(settings.output.progress, task.passes + checks),
      coordinator_(std::make_unique<ooc::Coordinator>(make_devices(device_), settings.options)),
      pass_(pass_options()) {}

ooc::PassOptions Session::pass_options() {
  ooc::PassOptions options{.stop = interrupt_.token(),
                           .progress = [this](const ooc::Progress& progress) { show(progress); },
                           .checksum = settings_.checksum,
                           .keep_partial = true,
                           .checkpoint = settings_.checkpoint};
  // A stopped run saves a checkpoint first, possibly to a slow disk.
  if (options.checkpoint) interrupt_.allow_more_time();
  if (trace_ || report_file_ || meter_.shows_stages()) {
    options.observe = [this](const ooc::TraceEvent& done) {
      if (meter_.shows_stages()) stage_load_.record(done);
      if (trace_) trace_->record(done);
      if (report_file_) report_file_->record().record(done);
    };
  }
  return options;
}

void Session::show(const ooc::Progress& progress) {
  // The reads of --verify are not part of the run's stages.
  const auto now = StageLoad::Clock::now();
  if (has_ended_ && settings_.options.ranks != nullptr) settings_.options.ranks->attend();
  meter_.update(progress, has_ended_ ? std::vector<StageShare>{} : stage_load_.shares(now));
  try {
    const bool is_to_stop = !has_ended_ && interrupt_.token().stop_requested();
    const std::string warning =
        settings_.stall_guard == nullptr ? "" : settings_.stall_guard->look(progress, is_to_stop);
    if (warning.empty() || settings_.output.quiet) return;
    meter_.erase();
    print_note(with_rank(warning, settings_.options.ranks));
  } catch (const ooc::Error& error) {
    meter_.erase();
    ooc::Ranks* const ranks = settings_.options.ranks;
    if (ranks != nullptr) ranks->fail(error);
    ooc::ErrorDetails details = error.details();
    const bool is_interrupted = error.kind() == ooc::ErrorKind::interrupted;
    if (is_interrupted && settings_.checkpoint) {
      details.hint = "the same job goes on from " + settings_.checkpoint.file.string();
    }
    const ooc::Error said(error.kind(), with_rank(error.what(), ranks), details);
    if (is_interrupted && settings_.prints()) interrupt_.end(said);
    end_at_once(said, is_interrupted ? std::optional(interrupt_.exit_code()) : std::nullopt);
  }
}

std::string_view Session::sharers() const {
  return sharers_of(device_, settings_);
}

/// Returns the measured rates for this run. Empty if several devices or ranks share it.
Ceilings Session::ceilings() {
  if (!sharers().empty()) return {};
  return read_ceilings({task_.file, coordinator_->device().name(), task_.kernel});
}

std::optional<Prediction> Session::predict(const Workload& work) {
  if (!sharers().empty()) return std::nullopt;
  return ooc_run::predict(work, device_.kind(), ceilings());
}

void Session::warn(std::string text) {
  if (text.empty()) return;
  if (settings_.prints()) {
    meter_.erase();
    print_warning(text);
  }
  warnings_.push_back(std::move(text));
}

Outcome Session::report(Report report, const ooc::Stats& stats) {
  room_for_report_.reset();
  Outcome outcome;
  const Ceilings ceilings = this->ceilings();
  std::optional<Prediction> prediction;  // none for a partial result
  if (!stats.outcome.partial && !stats.layout.is_produced) {
    const bool checksum = settings_.checksum;
    prediction = predict(report.work.value_or(work_of(stats, device_.kind(), checksum)));
  }
  outcome.verdict = verdict(stats, device_.kind(), ceilings);
  if (!outcome.verdict.empty()) outcome.verdict += beside_fact(prediction, stats.timing.seconds);
  outcome.partial = stats.outcome.partial;
  outcome.checkpoint = settings_.checkpoint.file.string();
  outcome.reasons = sentences_of(without_repetitions(stats.layout.reasons));
  if (!device_.reason.empty()) outcome.reasons.insert(outcome.reasons.begin(), device_.reason);
  if (const std::string ranks = ranks_without_gpu(stats); !ranks.empty()) {
    outcome.reasons.push_back(ranks);
  }
  outcome.notes = without_repetitions(stats.outcome.remarks);
  for (std::string& note : std::array{rounded_chunk(stats, settings_.options.chunk_bytes),
                                      idle_gpu_limit(device_, settings_)}) {
    if (!note.empty()) outcome.notes.push_back(std::move(note));
  }
  std::vector<std::string> sentences = warnings_;
  sentences.insert(sentences.end(), outcome.reasons.begin(), outcome.reasons.end());
  sentences.insert(sentences.end(), outcome.notes.begin(), outcome.notes.end());
  Json run = describe_run(stats, report.writes, sentences, outcome.verdict, ceilings, prediction);
  if (settings_.checkpoint) run["checkpoint"] = describe_checkpoint(settings_.checkpoint, stats);
  write_trace(outcome);
  write_report(outcome,
               {.command = report.command,
                .heading = report.heading,
                .input = report.input,
                .result = report.result,
                .run = run,
                .figure = report.figure},
               ceilings);
  outcome.document =
      settings_.output.json
          ? document(report.command, report.input, std::move(report.result), run, warnings_)
          : lines_for_stdout(report.heading) + lines_for_stdout(report.text) + "\n" +
                lines_for_stdout(footer(stats));
  return outcome;
}

/// Writes the timeline. Adds a failure to the outcome, whose result is still printed.
void Session::write_trace(Outcome& outcome) {
  if (!trace_) return;
  interrupt_.allow_more_time();
  try {
    outcome.notes.push_back(trace_->commit());
  } catch (const std::exception&) {
    outcome.fail(current_error());
  }
}

void Session::write_report(Outcome& outcome, const RunPage& page, const Ceilings& ceilings) {
  if (!report_file_) return;
  interrupt_.allow_more_time();
  try {
    outcome.notes.push_back(report_file_->commit(page, ceilings));
  } catch (const std::exception&) {
    outcome.fail(current_error());
  }
}

void Session::end_run() {
  has_ended_ = true;
  if (report_file_) report_file_->record().finish();
}

Session::~Session() {
  destroy_unless_starting(std::move(coordinator_));
  if (!trace_ || trace_->empty()) return;
  interrupt_.allow_more_time();
  try {
    const std::string note = trace_->commit();
    meter_.erase();
    if (!settings_.output.quiet) print_note(note);
  } catch (...) {
    // The error that ended the run is the one to report.
  }
}

Verified Session::verify(const ooc::Stats& stats, const std::function<void()>& check) {
  if (!settings_.verify || stats.outcome.partial) return {};
  end_run();
  pass_.checkpoint = {};  // the checkpoint is for the run, which has ended
  const auto began = std::chrono::steady_clock::now();
  try {
    check();
  } catch (const ooc::Error& error) {
    const bool no_memory = error.kind() == ooc::ErrorKind::memory;
    if (error.kind() != ooc::ErrorKind::interrupted && !no_memory) throw;
    return {.why_not = not_verified(error)};
  } catch (const std::bad_alloc&) {
    return {.why_not = not_verified({ooc::ErrorKind::memory, "out of memory"})};
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - began;
  return {.seconds = elapsed.count()};
}

Verified Session::verify_file(std::string_view command, const std::filesystem::path& file,
                              const ooc::Stats& stats, const std::function<void()>& check) {
  return verify(stats, [&] {
    try {
      check();
    } catch (const ooc::Error& error) {
      throw with_hint(error, printable(file.string()) + " was written, but is not verified",
                      command);
    }
  });
}

Json answer(Json result, const ooc::Stats& stats, const Verified& verified) {
  result["verified"] = verified.seconds ? Json(true) : Json(nullptr);
  mark_partial(result, stats);
  return result;
}

Outcome Session::report_files(Report report, const ooc::Source& source, const std::string& written,
                              const ooc::Stats& stats, const Verified& verified) {
  report.input = describe_input(source, settings_.format);
  report.heading = heading(source);
  Outcome outcome = this->report(std::move(report), stats);
  note_behind(source, outcome);
  outcome.written = written;
  if (verified.why_not) outcome.fail(*verified.why_not);
  return outcome;
}

Outcome Session::report(std::string_view command, std::span<const ooc::Source> sources,
                        const ooc::Stats& stats, Json result, const std::string& text,
                        const Verified& verified, const std::string& figure) {
  if (stats.outcome.records == 0 && !stats.outcome.partial && settings_.format.count != 0) {
    warn(sources.front().name() + ": there are no values in it");
  }
  Json input = describe_inputs(command, sources, settings_.format);
  const bool checksum = settings_.checksum;
  std::string partial = describe_partial(sources, stats);
  if (!partial.empty()) partial += '\n';
  if (checksum)
    input["checksum_xxh3_128"] = stats.outcome.checksum ? Json(*stats.outcome.checksum) : nullptr;
  Outcome outcome = report(
      {.command = command,
       .input = std::move(input),
       .result = answer(std::move(result), stats, verified),
       .heading = headings(sources),
       .text = partial + text + checksum_line(stats, checksum) + verified_line(verified.seconds),
       .figure = figure},
      stats);
  for (const ooc::Source& source : sources) note_behind(source, outcome);
  if (verified.why_not) outcome.fail(*verified.why_not);
  return outcome;
}

}  // namespace ooc_run
