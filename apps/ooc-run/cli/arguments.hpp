#pragma once

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <concepts>
#include <functional>
#include <map>
#include <ooc/io/error.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/options.hpp"

namespace ooc_run {

/// What a user asked of a command, on the command line or by environment variables.
class Arguments {
 public:
  /// Throws Error(usage) for what the command does not know.
  Arguments(const Command& command, const std::vector<std::string>& words);

  /// Its name: "reduce".
  std::string_view command() const noexcept { return command_; }

  std::span<const std::string> files() const noexcept { return files_; }

  /// Whether a switch is on, or an option has a value.
  bool has(std::string_view option) const { return settings_.find(option) != settings_.end(); }

  /// Whether it is on the command line itself.
  bool has_word(std::string_view option) const {
    const auto found = settings_.find(option);
    return found != settings_.end() && found->second.is_word;
  }

  /// An option that a variable of the environment stands for.
  struct Variable {
    std::string option;  // "chunk"
    std::string text;    // "OOC_CHUNK=12x"
  };
  std::vector<Variable> variables() const;

  /// The value of an option, understood by `parse`. Throws Error(usage) that names the option, or
  /// the environment variable, if `parse` does.
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
  void read_environment(const Command& command);
  bool is_excluded(const Command& command, std::string_view option) const;
  void check_exclusions(const Command& command) const;
  void check_requirements(const Command& command);
  [[noreturn]] void refuse_word(const Command& command, const std::string& word) const;
  [[noreturn]] void refuse_no_file(const Command& command) const;
  [[noreturn]] static void refuse(const Setting& setting, const ooc::Error& error);

  std::string_view command_;
  std::map<std::string, Setting, std::less<>> settings_;
  std::vector<std::string> files_;
};

/// Of the environment, variables that no command knows although one of nearly the same name is
/// known: what to say of each.
std::vector<std::string> misspelt_variables();

/// Turns parse functions for any number into ones that refuse 0.
std::uint64_t positive_bytes(std::string_view text);
std::uint64_t positive_count(std::string_view text);

/// A time that is longer than none.
double positive_seconds(std::string_view text);

/// How many threads or streams: from 1 to 1024, which is more than help any machine.
std::uint64_t worker_count(std::string_view text);

/// The place of a name among others. Throws Error(usage), with the nearest and all of them, if it
/// is none.
std::size_t place_among(std::span<const std::string_view> names, std::string_view name);

/// The value that a name stands for: values and names are in the same order.
template <class Value, std::size_t count>
Value choose(const std::array<std::string_view, count>& names,
             const std::array<Value, count>& values, std::string_view name) {
  return values[place_among(names, name)];
}

}  // namespace ooc_run
