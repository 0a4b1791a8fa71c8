#pragma once

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <ooc/error.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/options.hpp"

namespace ooc_run {

/// The options and files that a user gave to a command, on the command line or in the environment.
class Arguments {
 public:
  /// Throws Error(usage) if the command does not accept them.
  Arguments(const Command& command, const std::vector<std::string>& words);

  /// Returns the name of the command: "reduce".
  std::string_view command() const noexcept { return command_; }

  std::span<const std::string> files() const noexcept { return files_; }

  /// True if a switch is on or an option has a value.
  bool has(std::string_view option) const { return settings_.find(option) != settings_.end(); }

  /// True if the option is on the command line, not only in the environment.
  bool has_word(std::string_view option) const {
    const auto found = settings_.find(option);
    return found != settings_.end() && found->second.is_word;
  }

  /// An option that was set by an environment variable.
  struct Variable {
    std::string option;  // "chunk"
    std::string text;    // "OOC_CHUNK=12x"
  };
  std::vector<Variable> variables() const;

  /// Returns the value of an option, converted by `parse`. Empty if the option was not given. If
  /// `parse` throws an Error, throws it with the name of the option or environment variable.
  template <class Parse>
  auto get(std::string_view option, Parse parse) const
      -> std::optional<std::invoke_result_t<Parse, const std::string&>> {
    const auto found = settings_.find(option);
    if (found == settings_.end()) return {};
    try {
      return std::invoke(parse, found->second.text);
    } catch (const ooc::Error& error) {
      refuse(found->second, error);
    }
  }

 private:
  struct Setting {
    std::string text;
    std::string origin;  // "--chunk 12x" or "OOC_CHUNK=12x"
    std::string name;    // "--chunk" or "OOC_CHUNK"
    bool is_word = false;
  };

  void parse_words(const Command& command, const std::vector<std::string>& words);
  void read_environment(const std::vector<Option>& options);
  bool is_excluded(const std::vector<Option>& options, const Option& option) const;
  void check_exclusions(const std::vector<Option>& options) const;
  void check_requirements(const std::vector<Option>& options);
  [[noreturn]] void refuse_word(const Command& command, const std::string& word) const;
  [[noreturn]] void refuse_no_file(const Command& command) const;
  [[noreturn]] static void refuse(const Setting& setting, const ooc::Error& error);

  std::string_view command_;
  std::map<std::string, Setting, std::less<>> settings_;
  std::vector<std::string> files_;
};

/// Returns a remark on each environment variable that is probably a misspelt option: no command
/// knows it, but its name is close to a known one.
std::vector<std::string> misspelt_variables();

// Like parse_bytes() and parse_count(), but refuse 0.
std::uint64_t positive_bytes(std::string_view text);
std::uint64_t positive_count(std::string_view text);

/// Parses a number of seconds greater than 0.
double positive_seconds(std::string_view text);

/// Parses a number of threads or streams: from 1 to 1024, which is more than helps any machine.
std::uint64_t worker_count(std::string_view text);

/// Returns the index of `name` in `names`. If it is not there, throws Error(usage) with the nearest
/// name and all names.
std::size_t index_among(std::span<const std::string_view> names, std::string_view name);

/// Returns the value of a name. Values and names are in the same order.
template <class Value, std::size_t count>
Value choose(const std::array<std::string_view, count>& names,
             const std::array<Value, count>& values, std::string_view name) {
  return values[index_among(names, name)];
}

}  // namespace ooc_run
