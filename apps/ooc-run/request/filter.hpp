#pragma once

#include <ooc/filter_by.hpp>

#include <optional>
#include <string>

#include "cli/arguments.hpp"

namespace ooc_run {

/// The records that a filter keeps, and its outputs.
struct FilterSettings {
  ooc::FilterByRange range;
  std::optional<std::string> mask;  // the name of a dataset, instead of the range
  ooc::FilterTargets targets;       // without types
};

/// Parses -o, --rest, --force, --indices and the options that say what to keep. Throws
/// Error(usage).
FilterSettings read_filter_settings(const Arguments& arguments);

}  // namespace ooc_run
