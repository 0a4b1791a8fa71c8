#include "program.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "bench/bench.hpp"
#include "cli/arguments.hpp"
#include "cli/failure.hpp"
#include "cli/help.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/remedies.hpp"
#include "cli/scarce_memory.hpp"
#include "cli/suggest.hpp"
#include "cli/terminal.hpp"
#include "cli/version.hpp"
#include "commands/commands.hpp"
#include "doctor/doctor.hpp"
#include "gen/gen.hpp"
#include "info/info.hpp"
#include "manual/generate.hpp"
#include "request/request.hpp"
#include "result/report.hpp"
#include "run/stall_guard.hpp"
#include "run/together.hpp"
#include "run/unfinished_start.hpp"

namespace ooc_run {
namespace {

void print_to_stdout(std::string_view text) {
  if (const int errno_value = write_whole(STDOUT_FILENO, text)) {
    throw ooc::Error::from_errno(ooc::ErrorKind::output, "write", errno_value, "standard output");
  }
}

/// Opens /dev/null as each of the descriptors 0 to 2 that our parent has closed. Otherwise the
/// first file that we open would get such a descriptor, and our output would go into that file. The
/// mode makes reads of stdin and writes to the other two fail.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    [[maybe_unused]] const int lowest =
        open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

/// Raises the limit on open files, because a dataset may have very many files.
void allow_many_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool asks_for_help(const std::string& word) {
  return word == "-h" || word == "--help" || word == "help";
}

/// Refuses a help topic that does not exist, with a hint to the nearest command, option or page.
[[noreturn]] void refuse_topic(const std::string& word) {
  std::set<std::string> topics;
  for (const Command& command : commands()) {
    topics.emplace(command.name);
    for (const Option& option : options_of(command)) {
      topics.insert(word.starts_with('-') ? fmt::format("--{}", option.name)
                                          : std::string(option.name));
    }
  }
  for (const HelpTopic& topic : help_topics) topics.emplace(topic.name);
  for (const CommandAlias& alias : command_aliases) topics.emplace(alias.name);
  const std::string_view near =
      nearest(word, std::vector<std::string_view>(topics.begin(), topics.end()));
  const std::string_view ours = command_for(word);
  refuse_usage(fmt::format("there is no help about '{}'", word),
               !near.empty()   ? fmt::format("did you mean '{}'?", near)
               : !ours.empty() ? std::string(ours)
                               : "ooc-run -h lists the commands");
}

/// Prints help for "help", "--help histogram" and "-h". The first word decides the length.
int help(const std::vector<std::string>& words) {
  const bool brief = words.front() == "-h";
  std::string text;
  if (words.size() < 2 || asks_for_help(words[1])) {
    text = brief ? short_help() : long_help();
  } else if (words[1] == tuning_topic.name) {
    text = tuning_help();
  } else if (const Command* const command = command_named(words[1])) {
    text = brief ? short_help(*command) : long_help(*command);
  } else if (text = option_help(words[1]); text.empty()) {
    refuse_topic(words[1]);
  }
  if (words.size() > 2 && !asks_for_help(words[2])) {
    refuse_usage(fmt::format("{} {}: unexpected argument '{}'", words[0], words[1], words[2]),
                 fmt::format("ooc-run help {}", words[1]));
  }
  print_to_stdout(lines_for_stdout(text));
  return 0;
}

/// True for "ooc-run histogram help", unless that is a file.
bool is_only_help(const std::vector<std::string>& words) {
  std::error_code failed;
  return words.size() == 1 && words.front() == "help" &&
         !std::filesystem::exists(words.front(), failed);
}

int print_generated(const std::vector<std::string>& words) {
  if (words.size() > 3) {
    refuse_usage(fmt::format("--generate {}: unexpected argument '{}'", words[1], words[3]),
                 "a command may follow, as in: ooc-run --generate man reduce");
  }
  const std::string what = words.size() < 2 ? "" : words[1];
  print_to_stdout(generate(what, words.size() < 3 ? nullptr : &find_command(words[2])));
  return 0;
}

/// True if a text contains "--chunk" as a whole word: "--chunks" does not count.
bool speaks_of(std::string_view text, const std::string& option) {
  const std::string word = "--" + option;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::string_view rest = text.substr(at + word.size());
    const char next = rest.empty() ? ' ' : rest.front();
    if (next != '-' && (next < 'a' || next > 'z')) return true;
  }
  return false;
}

/// Rewrites an error for users of ooc-run: names options instead of the library's settings, and
/// adds the environment variables that have set the options it mentions.
ooc::Error for_user(const ooc::Error& library_error, const Arguments& arguments) {
  const ooc::Error error = in_terms_of_options(library_error, arguments.command());
  ooc::ErrorDetails details = error.details();
  const std::string text = fmt::format("{}\n{}\n{}", error.what(), details.why, details.hint);
  for (const auto& variable : arguments.variables()) {
    if (!speaks_of(text, variable.option) || text.starts_with(variable.text)) continue;
    if (!details.why.empty()) details.why += "; ";
    details.why += variable.text + " is set in the environment";
  }
  return {error.kind(), error.what(), details};
}

/// --quiet takes precedence over --verbose.
void print_notes(const Outcome& outcome, const OutputSettings& output) {
  if (output.quiet) return;
  if (output.verbose) {
    for (const std::string& reason : outcome.reasons) print_note(reason);
  }
  for (const std::string& note : outcome.notes) print_note(note);
}

/// Prints the document. That can fail after the output file has been committed.
void print_document(const Outcome& outcome, const OutputSettings& output) {
  try {
    outcome.document.print(print_to_stdout);
  } catch (const ooc::Error& error) {
    print_notes(outcome, output);  // notes may name other files that were written
    if (outcome.written.empty()) throw;
    throw with_hint(error, outcome.written + " was written, whole");
  }
}

/// Removes the checkpoint of a safe result: a file, or a directory with the files of all ranks.
void remove_checkpoint(const std::filesystem::path& path) {
  std::error_code failed;
  try {
    for (const std::filesystem::path& file : ooc::detail::files_of({.file = path})) {
      std::filesystem::remove(ooc::detail::follow_links(file), failed);
    }
  } catch (const ooc::Error&) {
    return;  // the directory cannot be read
  }
  // Do not remove a link. A directory that still has other files is not removed either.
  if (!std::filesystem::is_symlink(path, failed)) std::filesystem::remove(path, failed);
}

/// Prints the outcome of a run, then throws the first of its failures.
void print(const Outcome& outcome, const OutputSettings& output, const Arguments& arguments) {
  print_document(outcome, output);
  // A committed output needs no checkpoint, even if a check has found it wrong.
  const bool is_safe = outcome.failures.empty() || !outcome.written.empty();
  if (!outcome.checkpoint.empty() && is_safe) remove_checkpoint(outcome.checkpoint);
  print_notes(outcome, output);
  if (!outcome.verdict.empty() && !output.quiet) {
    print_to_stderr(lines_for_stderr("ooc-run: ", outcome.verdict));
  }
  for (std::size_t i = 1; i < outcome.failures.size(); ++i) {
    print_error(for_user(outcome.failures[i], arguments));
  }
  if (!outcome.failures.empty()) throw outcome.failures.front();
}

/// Returns the document of a command that was interrupted before it had a result.
std::string document_of_nothing(std::string_view command) {
  return document(command, nullptr, {{"partial", true}, {"covered_bytes", 0}}, nullptr, {}).text();
}

/// Prints why there is no result. `nothing`: a document for stdout in that case, or empty.
void print_end(const ooc::Error& error, const std::string& nothing) {
  try {
    if (error.kind() == ooc::ErrorKind::interrupted) print_to_stdout(nothing);
  } catch (const ooc::Error&) {
    // The error to report is the one that ended the run.
  }
  print_error(error);
}

/// `ranks`: the ranks of this run, or null. `nothing`: see print_end(). Cleared when there is a
/// result to print.
int run_and_print(const Arguments& arguments, Interrupt& interrupt, ooc::Ranks* ranks,
                  std::string& nothing) {
  const bool prints = ranks == nullptr || ranks->is_first();
  if (prints && !arguments.has("quiet")) {
    for (const std::string& remark : misspelt_variables()) print_note(remark);
  }
  StallGuard stall_guard(arguments.get("io-timeout", positive_seconds), arguments.has("quiet"));
  Request request = read_request(arguments);
  divide(request, ranks);
  std::visit(
      [&](auto& each) {
        if constexpr (requires { each.run.stall_guard; }) each.run.stall_guard = &stall_guard;
      },
      request);
  const Outcome outcome =
      std::visit([&](const auto& each) { return run(each, interrupt); }, request);
  if (ranks != nullptr) leave_after_success(*ranks);
  if (prints) {
    interrupt.set_last_words("");
    nothing.clear();
    print(outcome, output_settings(request), arguments);
  } else {
    interrupt.allow_more_time();  // until rank 0 has printed
  }
  if (!outcome.partial) return 0;
  // This rank may have stopped because another one was interrupted.
  return interrupt.exit_code() != 0 ? interrupt.exit_code()
                                    : exit_code_of(ooc::ErrorKind::interrupted);
}

int exit_code_after(const ooc::Error& error, const Interrupt& interrupt) {
  const bool interrupted = error.kind() == ooc::ErrorKind::interrupted;
  return interrupted && interrupt.exit_code() != 0 ? interrupt.exit_code()
                                                   : exit_code_of(error.kind());
}

/// A command's arguments, parsed before the ranks meet. All ranks then refuse a wrong one together.
struct Words {
  std::optional<Arguments> arguments{};
  double rank_timeout = 60;  // seconds
  std::optional<ooc::Error> wrong{};
};

Words parse(const Command& command, const std::vector<std::string>& words) {
  Words parsed;
  try {
    parsed.arguments.emplace(command, words);
    const auto timeout = parsed.arguments->get("rank-timeout", positive_seconds);
    if (timeout) parsed.rank_timeout = *timeout;
  } catch (const std::exception&) {
    parsed.wrong = current_error();
  }
  return parsed;
}

int run_parsed(const Words& words, Interrupt& interrupt, ooc::Ranks* ranks, std::string& nothing) {
  if (words.wrong) throw *words.wrong;
  const Arguments& arguments = *words.arguments;
  try {
    return run_and_print(arguments, interrupt, ranks, nothing);
  } catch (const ooc::Error& error) {
    throw for_user(error, arguments);
  }
}

int run_command(const Command& command, const std::vector<std::string>& words, const Meet& meet) {
  Interrupt interrupt;
  const Words parsed = parse(command, words);
  const bool json = parsed.arguments && parsed.arguments->has("json");
  std::string nothing = json ? document_of_nothing(command.name) : "";
  std::unique_ptr<ooc::Ranks> ranks;
  try {
    if (meet) ranks = meet_in_time(meet, parsed.rank_timeout);
    if (ranks == nullptr || ranks->is_first()) {  // one rank prints this for all
      interrupt.set_last_words(nothing);
    }
    const int code = run_parsed(parsed, interrupt, ranks.get(), nothing);
    interrupt.set_last_words({});
    // A launcher that has interrupted its processes does not wait until MPI is finalised.
    if (ranks != nullptr && ranks->is_first() && interrupt.exit_code() != 0) _exit(code);
    close_in_time(std::move(ranks), parsed.rank_timeout, code);
    return code;
  } catch (const std::exception&) {
    const ooc::Error error = current_error();
    // A launcher interrupts the other ranks when the first has ended; they print no last words.
    interrupt.set_last_words({});
    const Farewell farewell = ranks == nullptr ? Farewell{} : leave_after_failure(*ranks, error);
    if (farewell.prints) print_end(with_rank(error, ranks.get()), nothing);
    const int code = exit_code_after(error, interrupt);
    // The clean-up of a failed GPU might hang.
    const bool is_unsafe = farewell.prints && error.kind() == ooc::ErrorKind::device;
    if (!farewell.is_complete || is_unsafe) _exit(code);
    close_in_time(std::move(ranks), parsed.rank_timeout, code);
    return code;
  }
}

int dispatch(const std::vector<std::string>& words, const Meet& meet) {
  if (words.empty()) {
    print_to_stderr(short_help());
    return exit_code_of(ooc::ErrorKind::usage);
  }
  const std::string& first = words.front();
  if (asks_for_help(first)) return help(words);
  if (first == "--generate") return print_generated(words);
  if (first == "--version") {
    print_to_stdout(lines_for_stdout(describe_version()));
    return 0;
  }
  const Command& command = find_command(first);
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  if (is_only_help(rest)) return help({"help", first});
  for (const std::string& word : rest) {
    if (word == "--") break;
    if (word != "-h" && word != "--help") continue;
    print_to_stdout(lines_for_stdout(word == "-h" ? short_help(command) : long_help(command)));
    return 0;
  }
  return run_command(command, rest, meet);
}

int guarded(const std::vector<std::string>& words, const Meet& meet) {
  try {
    return dispatch(words, meet);
  } catch (const std::exception&) {
    return report_error(current_error());
  }
}

}  // namespace

int run_program(int argc, char** argv, const Meet& meet) {
  occupy_standard_descriptors();
  allow_many_files();
  // Ignore these signals, so that a closed pipe or a file-size limit makes write() fail instead.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return run_with_scarce_memory([&] {
    return end_unless_finished(guarded({argv + 1, argv + argc}, meet));
  });
}

}  // namespace ooc_run
