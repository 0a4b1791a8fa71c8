#pragma once

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

}  // namespace ooc::detail::splitting
