#pragma once

#include <ooc/error.hpp>
#include <span>
#include <string>
#include <string_view>

namespace ooc_run {

/// A setting of the library, and an option that changes it.
struct SettingOption {
  std::string_view setting;  // "Options::chunk_bytes"
  std::string_view option;   // "chunk"
};

/// Returns all settings that errors of the library name. A setting that has different options in
/// different commands is in several rows.
std::span<const SettingOption> setting_options();

/// Returns the error with remedies that a user of ooc-run can type: all of its advice becomes the
/// hint, in terms of the options of `command`. Remedies for which it has no option are left out. An
/// empty `command` stands for any.
ooc::Error in_terms_of_options(const ooc::Error& error, std::string_view command = {});

}  // namespace ooc_run
