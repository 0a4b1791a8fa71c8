#pragma once

#include <ooc/detail/content/type_guess.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/file_facts.hpp"
#include "result/report.hpp"
#include "run/explanation.hpp"

namespace ooc_run {

/// The way in which a command would read the dataset now.
struct Reading {
  std::string_view command;
  Explanation explanation;
};

/// Facts about a dataset that are known without a pass over it.
struct Info : ooc::detail::Opened {
  std::vector<FileFacts> files{};
  std::optional<ooc::detail::TypeGuess>
      guess{};                      // if neither the file nor an option gives the type
  std::vector<Reading> readings{};  // empty if there is nothing to read
};

Json describe_info(const Info& info);

/// Returns the same facts as text, in lines of at most `columns` characters.
std::string describe_info(const Info& info, std::size_t columns);

}  // namespace ooc_run
