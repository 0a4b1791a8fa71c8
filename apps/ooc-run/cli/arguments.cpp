#include "cli/arguments.hpp"

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <boost/program_options/value_semantic.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <ooc/detail/base/edit_distance.hpp>
#include <set>
#include <system_error>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/suggest.hpp"
#include "cli/terminal.hpp"

namespace ooc_run {
namespace {

namespace po = boost::program_options;

constexpr const char* operands = "FILE";  // Boost's name for words that are not options

po::options_description describe(const Command& command) {
  po::options_description description;
  for (const Option& option : options_of(command)) {
    std::string names(option.name);
    if (option.letter != 0) names += std::string(",") + option.letter;
    if (option.argument.empty()) {
      description.add_options()(names.c_str(), po::bool_switch());
    } else {
      description.add_options()(names.c_str(), po::value<std::string>());
    }
  }
  description.add_options()(operands, po::value<std::vector<std::string>>());
  return description;
}

std::string describe(const Option& option) {
  return fmt::format("--{} {}: {}", option.name, option.argument, help_of(option));
}

/// Returns the options of a command that do the same as an option of this name in other programs.
std::string same_options(const Command& command, std::string_view other_name) {
  std::string same;
  for (const Option& option : options_of(command)) {
    if (!has_word(options_for(other_name), option.name)) continue;
    same += (same.empty() ? "" : "; ") + describe(option);
  }
  return same;
}

/// Throws Error(usage) with a hint: the option that was probably meant, or the commands that know
/// an option of this name.
[[noreturn]] void refuse_unknown(const Command& command, std::string word) {
  if (word.starts_with("--help=")) refuse_usage("--help takes no value");
  word = word.substr(0, word.find('='));
  const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  std::vector<std::string_view> names{"help"};
  for (const Option& option : options_of(command)) names.push_back(option.name);
  std::vector<std::string> others;
  for (const Command& other : commands()) {
    const bool known = std::ranges::any_of(
        options_of(other), [&](const Option& option) { return option.name == bare; });
    if (known) others.push_back(fmt::format("'ooc-run {}'", other.name));
  }
  std::string hint = others.empty()
                         ? fmt::format("ooc-run {} -h lists the options", command.name)
                         : fmt::format("--{} is an option of {}", bare, enumeration(others));
  const std::string_view near = nearest(bare, names);
  if (!near.empty()) hint = fmt::format("did you mean --{}?", near);
  if (const std::string ours = same_options(command, bare); !ours.empty()) hint = ours;
  if (bare == "version") hint = "ooc-run --version";
  std::error_code failed;
  if (std::filesystem::exists(word, failed)) {
    hint = fmt::format("the file is {}", ooc::shell_word("./" + word));
  }
  refuse_usage(fmt::format("unknown option '{}'", word), hint);
}

[[noreturn]] void refuse_missing_value(const Command& command, const std::string& word) {
  const std::string bare = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  for (const Option& option : options_of(command)) {
    if (option.name == bare || bare == std::string(1, option.letter)) {
      if (option.argument.empty()) refuse_usage(fmt::format("--{} takes no value", bare), {});
      refuse_usage(fmt::format("--{} needs a value", option.name), describe(option));
    }
  }
  refuse_usage(fmt::format("{} needs a value", word), {});
}

std::vector<po::option> split_words(const Command& command, const std::vector<std::string>& words) {
  const po::options_description description = describe(command);
  po::positional_options_description positional;
  positional.add(operands, -1);
  namespace style = po::command_line_style;
  try {
    return po::command_line_parser(words)
        .options(description)
        .positional(positional)
        .style(style::unix_style & ~style::allow_guessing)
        .run()
        .options;
  } catch (const po::unknown_option& error) {
    refuse_unknown(command, error.get_option_name());
  } catch (const po::invalid_command_line_syntax& error) {
    const bool missing = error.kind() == po::invalid_syntax::missing_parameter ||
                         error.kind() == po::invalid_syntax::empty_adjacent_parameter;
    if (missing) refuse_missing_value(command, error.get_option_name());
    refuse_usage(error.what(), fmt::format("ooc-run {} -h lists the options", command.name));
  } catch (const po::error& error) {
    refuse_usage(error.what(), fmt::format("ooc-run {} -h lists the options", command.name));
  }
}

const Option* find_option(const std::vector<Option>& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &Option::name);
  return found == options.end() ? nullptr : &*found;
}

/// Parses the value of an environment variable such as OOC_QUIET.
bool parse_switch(std::string_view text) {
  for (const std::string_view yes : {"1", "yes", "true", "on"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"", "0", "no", "false", "off"}) {
    if (text == no) return false;
  }
  throw ooc::Error(ooc::ErrorKind::usage, "is neither 1, yes, true or on, nor 0, no, false or off");
}

std::uint64_t refuse_zero(std::uint64_t value) {
  if (value == 0) throw ooc::Error(ooc::ErrorKind::usage, "must be at least 1");
  return value;
}

}  // namespace

Arguments::Arguments(const Command& command, const std::vector<std::string>& words)
    : command_(command.name) {
  const std::vector<Option> options = options_of(command);
  parse_words(command, words);
  read_environment(options);
  check_exclusions(options);
  check_requirements(options);
  const std::size_t most = command.files == FileWords::none          ? 0
                           : command.files == FileWords::perhaps_one ? 1
                                                                     : files_.size();
  if (files_.size() > most) refuse_word(command, files_[most]);
  if (std::ranges::find(files_, "") != files_.end()) {
    refuse_usage("a file's name is empty",
                 "\"$NAME\" is empty if the shell variable NAME is not set");
  }
  if (command.files == FileWords::some && files_.empty() && !has("files-from")) {
    refuse_no_file(command);
  }
}

/// Refuses a file if the command takes none, or no more. It is probably the output, without -o.
void Arguments::refuse_word(const Command& command, const std::string& word) const {
  const std::string usage = fmt::format("usage: ooc-run {} {}", command.name, command.synopsis);
  const bool wants_output = find_option(options_of(command), "output") != nullptr;
  refuse_usage(fmt::format("unexpected argument '{}'", word),
               wants_output && !has("output")
                   ? fmt::format("-o {}, if that is the output; {}", ooc::shell_word(word), usage)
                   : usage);
}

/// Refuses a command line without a file. An option may have consumed the file as its value.
void Arguments::refuse_no_file(const Command& command) const {
  for (const Option& option : options_of(command)) {
    const auto found = settings_.find(option.name);
    if (found == settings_.end() || !found->second.is_word || option.argument.empty()) continue;
    const std::string& file = found->second.text;
    std::error_code failed;
    if (!std::filesystem::exists(file, failed)) continue;
    throw ooc::Error(ooc::ErrorKind::usage, "no file given",
                     {.why = fmt::format("'{}' was taken for the value of --{}: {}", file,
                                         option.name, help_of(option)),
                      .hint = fmt::format("ooc-run {} --{} {} {}", command.name, option.name,
                                          option.argument, ooc::shell_word(file))});
  }
  refuse_usage("no file given",
               fmt::format("usage: ooc-run {} {}", command.name, command.synopsis));
}

void Arguments::parse_words(const Command& command, const std::vector<std::string>& words) {
  const std::vector<Option> options = options_of(command);
  for (const po::option& word : split_words(command, words)) {
    const Option* option = find_option(options, word.string_key);
    if (option == nullptr) {
      files_.insert(files_.end(), word.value.begin(), word.value.end());
      continue;
    }
    const std::string text = word.value.empty() ? "" : word.value.front();
    if (text.starts_with("--") && find_option(options, text.substr(2)) != nullptr) {
      refuse_missing_value(command, word.string_key);
    }
    const std::string origin = fmt::format("--{} {}", option->name, text);
    const std::string name = fmt::format("--{}", option->name);
    if (!settings_.emplace(option->name, Setting{text, origin, name, true}).second &&
        !option->argument.empty()) {
      refuse_usage(fmt::format("--{} was given twice", option->name), {});
    }
  }
}

void Arguments::read_environment(const std::vector<Option>& options) {
  for (const Option& option : options) {
    const std::string variable = environment_name(option.name);
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr || *value == '\0') continue;
    if (has(option.name) || is_excluded(options, option)) continue;
    const Setting setting{value, fmt::format("{}={}", variable, value), variable};
    if (!option.argument.empty()) {
      settings_.emplace(option.name, setting);
      continue;
    }
    try {
      if (parse_switch(value)) settings_.emplace(option.name, setting);
    } catch (const ooc::Error& error) {
      refuse(setting, error);
    }
  }
}

/// True if an option on the command line excludes this one.
bool Arguments::is_excluded(const std::vector<Option>& options, const Option& option) const {
  return std::ranges::any_of(options, [&](const Option& other) {
    return has_word(other.name) && (ooc_run::has_word(other.excludes, option.name) ||
                                    ooc_run::has_word(option.excludes, other.name));
  });
}

void Arguments::check_exclusions(const std::vector<Option>& options) const {
  for (const Option& option : options) {
    const auto setting = settings_.find(option.name);
    if (setting == settings_.end()) continue;
    for (const auto& [name, other] : settings_) {
      if (!ooc_run::has_word(option.excludes, name)) continue;
      refuse_usage(fmt::format("{} and {} exclude each other", setting->second.name, other.name),
                   std::string(option.because));
    }
  }
}

void Arguments::check_requirements(const std::vector<Option>& options) {
  for (const Option& option : options) {
    const auto setting = settings_.find(option.name);
    if (setting == settings_.end()) continue;
    std::string names;
    const Option* needed = nullptr;
    bool is_met = false;
    for (const Option& other : options) {
      if (!ooc_run::has_word(option.needs, other.name)) continue;
      const auto given = settings_.find(other.name);
      const bool any = option.needs_value.empty();
      is_met |= given != settings_.end() && (any || given->second.text == option.needs_value);
      names += fmt::format("{}--{}{}{}", names.empty() ? "" : " or ", other.name, any ? "" : " ",
                           option.needs_value);
      if (needed == nullptr) needed = &other;
    }
    if (is_met || needed == nullptr) continue;
    if (setting->second.is_word) {
      refuse_usage(fmt::format("--{} needs {}", option.name, names), describe(*needed));
    }
    settings_.erase(setting);
  }
}

std::vector<Arguments::Variable> Arguments::variables() const {
  std::vector<Variable> all;
  for (const auto& [option, setting] : settings_) {
    if (!setting.is_word) all.push_back({option, setting.origin});
  }
  return all;
}

void Arguments::refuse(const Setting& setting, const ooc::Error& error) {
  throw ooc::Error(error.kind(), fmt::format("{}: {}", setting.origin, error.what()),
                   error.details());
}

std::vector<std::string> misspelt_variables() {
  const std::string prefix = environment_name("");
  std::set<std::string> known;  // without the common prefix
  for (const Command& command : commands()) {
    for (const Option& option : options_of(command)) {
      known.insert(environment_name(option.name).substr(prefix.size()));
    }
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::vector<std::string> remarks;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view entry = *variable;
    if (!entry.starts_with(prefix)) continue;
    const std::string name(entry.substr(prefix.size(), entry.find('=') - prefix.size()));
    // Short names are close to too many others, and may belong to another program.
    if (name.size() < 4 || known.contains(name)) continue;
    const std::string_view near = nearest(name, names);
    if (near.empty() || ooc::detail::edit_distance(name, near) > name.size() / 3) continue;
    remarks.push_back(
        fmt::format("{0}{1} is no option: did you mean {0}{2}?", prefix, printable(name), near));
  }
  return remarks;
}

std::uint64_t positive_bytes(std::string_view text) {
  return refuse_zero(parse_bytes(text));
}

std::uint64_t positive_count(std::string_view text) {
  return refuse_zero(parse_count(text));
}

double positive_seconds(std::string_view text) {
  const double seconds = parse_seconds(text);
  if (!(seconds > 0)) throw ooc::Error(ooc::ErrorKind::usage, "must be greater than 0");
  return seconds;
}

std::uint64_t worker_count(std::string_view text) {
  constexpr std::uint64_t most = 1024;
  const std::uint64_t count = positive_count(text);
  if (count > most)
    throw ooc::Error(ooc::ErrorKind::usage, fmt::format("must be at most {}", most));
  return count;
}

std::size_t index_among(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string all;
  for (const std::string_view each : names) {
    all += all.empty() ? "" : each == names.back() ? " or " : ", ";
    all += each;
  }
  const std::string_view near = nearest(name, names);
  throw ooc::Error(ooc::ErrorKind::usage, "is not known",
                   {.hint = near.empty() ? fmt::format("one of {}", all)
                                         : fmt::format("did you mean {}? One of {}", near, all)});
}

}  // namespace ooc_run
