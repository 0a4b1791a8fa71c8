#include "cli/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "cli/options.hpp"

namespace ooc_run {
namespace {

constexpr std::array names{
    SettingOption{"ConvertOptions::strict", "strict"},
    SettingOption{"Device::kind", "device"},
    SettingOption{"Format::count", "count"},
    SettingOption{"Format::offset", "offset"},
    SettingOption{"Format::type", "dtype"},
    SettingOption{"HistogramOptions::bins", "bins"},
    SettingOption{"HistogramOptions::bins", "histogram"},
    SettingOption{"HistogramOptions::range", "range"},
    SettingOption{"MatmulOptions::precision", "compute"},
    SettingOption{"Options::chunk_bytes", "chunk"},
    SettingOption{"Options::device_bytes", "vram"},
    SettingOption{"Options::direct", "direct"},
    SettingOption{"Options::engine", "engine"},
    SettingOption{"Options::memory_bytes", "memory"},
    SettingOption{"Options::streams", "streams"},
    SettingOption{"Options::threads", "threads"},
    SettingOption{"PassOptions::checkpoint", "resume"},
    SettingOption{"PassOptions::checksum", "checksum"},
    SettingOption{"Target::replace", "force"},
    SettingOption{"Target::type", "to"},
};

/// Returns the option of a command that changes a setting.
std::optional<Option> option_for(std::string_view setting, const Command& command) {
  for (const Option& option : options_of(command)) {
    const auto changes_it = [&](const SettingOption& row) {
      return row.setting == setting && row.option == option.name;
    };
    if (std::ranges::any_of(names, changes_it)) return option;
  }
  return {};
}

/// Returns the option of the named command or, without a name, of the first that has one.
std::optional<Option> option_for(std::string_view setting, std::string_view command) {
  for (const Command& each : commands()) {
    if (!command.empty() && command != each.name) continue;
    if (auto option = option_for(setting, each)) return option;
  }
  return {};
}

/// Returns "--engine threads" or, for a remedy without a value, "--range LO:HI".
std::string with_value(const Option& option, const std::string& value) {
  const std::string text = value.empty() ? std::string(option.argument) : ooc::shell_word(value);
  return fmt::format("--{}{}{}", option.name, text.empty() ? "" : " ", text);
}

ooc::RemedyWords words_for(const ooc::Remedy& remedy, const std::optional<Option>& option,
                           const std::string& path) {
  if (remedy.change == ooc::Change::convert) {
    return {"convert", fmt::format("it: ooc-run convert {} -o OUT --to {}", ooc::shell_word(path),
                                   ooc::shell_word(remedy.value))};
  }
  if (remedy.change == ooc::Change::set) return {"use", with_value(*option, remedy.value)};
  const bool is_left_out = remedy.change == ooc::Change::unset;
  return {is_left_out ? "leave out" : ooc::words_of(remedy).verb,
          fmt::format("--{}", option->name)};
}

}  // namespace

std::span<const SettingOption> setting_options() {
  return names;
}

ooc::Error in_terms_of_options(const ooc::Error& error, std::string_view command) {
  ooc::ErrorDetails details = error.details();
  std::erase_if(details.remedies, [&](const ooc::Remedy& remedy) {
    return remedy.change != ooc::Change::convert && !option_for(remedy.setting, command);
  });
  details.hint = ooc::advice(details, [&](const ooc::Remedy& remedy) {
    return words_for(remedy, option_for(remedy.setting, command), details.path);
  });
  details.remedies.clear();
  return {error.kind(), error.what(), details};
}

}  // namespace ooc_run
