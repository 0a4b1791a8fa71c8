#pragma once

#include <ooc/filter_by.hpp>
#include <ooc/source.hpp>
#include <ooc/split_by.hpp>

#include <cstddef>
#include <string>

#include "split/choice.hpp"

namespace ooc::detail::splitting {

/// Returns what assigns the records of a source to `outputs` outputs. Throws Error as split_by().
Choice choice_of(const SplitRule& rule, const Source& source, std::size_t outputs);

/// Describes the rule: equal texts mean that equal records go to equal outputs.
std::string words_of(const SplitRule& rule, std::size_t outputs);

/// Returns what assigns the records that fit a rule to output 0, and all others to output 1. Throws
/// Error as filter_by().
Choice choice_of(const FilterRule& rule, const Source& source);

/// Describes the rule: equal texts mean that equal records fit, apart from masks.
std::string words_of(const FilterRule& rule);

}  // namespace ooc::detail::splitting
