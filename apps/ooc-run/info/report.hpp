#pragma once

#include <ooc/io/source.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/file_facts.hpp"
#include "dataset/file_signature.hpp"
#include "dataset/type_guess.hpp"
#include "result/report.hpp"
#include "run/explanation.hpp"

namespace ooc_run {

/// How a command would read a dataset now.
struct Reading {
  std::string_view command;
  Explanation explanation;
};

/// What is to be said of a dataset that nobody has read.
struct Info {
  ooc::Source source;
  std::vector<FileFacts> files;
  std::optional<FileSignature> signature;  // of a raw file that is none
  std::optional<TypeGuess> guess;          // if nothing and nobody names the type
  std::vector<Reading> readings;           // none if there is nothing to be read
};

Json describe_info(const Info& info);

/// The same for people, whole lines of at most `columns`.
std::string describe_info(const Info& info, std::size_t columns);

}  // namespace ooc_run
