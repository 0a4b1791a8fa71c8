// An input is a command line, one word per line. It must be understood, or refused as wrong usage.

#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "input.hpp"

namespace {

using ooc::detail::fuzz::require;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return lines;
}

void attempt(auto action) {
  try {
    action();
  } catch (const ooc::Error& error) {
    require(error.kind() == ooc::ErrorKind::usage,
            "a command line is understood, or a wrong usage");
    require(*error.what() != '\0', "a refusal says why");
  }
}

void check(const ooc_run::Command& command, const ooc_run::Arguments& arguments) {
  require(arguments.command() == command.name, "arguments know their command");
  const std::size_t files = arguments.files().size();
  const std::size_t most = command.files == ooc_run::FileWords::none ? 0 : 1;
  require(command.files == ooc_run::FileWords::some ? files > 0 : files <= most,
          "as many files as there should be");
  for (const ooc_run::Option& option : ooc_run::options_of(command)) {
    const auto text = arguments.get(option.name, [](const std::string& value) { return value; });
    require(text.has_value() == arguments.has(option.name), "an option is there or not");
    if (option.argument.empty()) continue;
    attempt([&] { arguments.get(option.name, ooc_run::positive_bytes); });
    attempt([&] { arguments.get(option.name, ooc_run::positive_count); });
    attempt([&] { arguments.get(option.name, ooc_run::parse_shape); });
    attempt([&] { arguments.get(option.name, ooc_run::parse_integer); });
    attempt([&] { arguments.get(option.name, ooc_run::parse_real); });
    attempt([&] { arguments.get(option.name, ooc::parse_dtype); });
    attempt([&] {
      arguments.get(option.name, [](const std::string& value) {
        return ooc_run::index_among(ooc_run::direct_names, value);
      });
    });
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = lines_of(ooc::detail::fuzz::as_text(data, size));
  attempt([&] {
    const ooc_run::Command& command = ooc_run::find_command(words.front());
    check(command, ooc_run::Arguments(command, {words.begin() + 1, words.end()}));
  });
  return 0;
}
