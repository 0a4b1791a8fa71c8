#pragma once

#include <ooc/error.hpp>
#include <string>
#include <vector>

#include "result/document.hpp"

namespace ooc_run {

/// The texts that a command returns, to be printed by main(). A command prints only progress,
/// warnings about the meaning of the result and, if it fails, the names of files that it leaves.
struct Outcome {
  Document document;                 // for stdout, whole or not at all
  std::vector<std::string> reasons;  // for stderr with --verbose: reasons for choices
  std::vector<std::string> notes;    // for stderr unless --quiet: other events of the run
  std::string verdict;               // for stderr unless --quiet: the bottleneck; may be empty
  bool partial = false;              // interrupted: the result covers only a part of the input
  std::string written{};             // path of the committed output; empty if there is none
  std::string checkpoint{};          // to be removed after printing; may be empty

  /// Errors in spite of which the result is printed: it failed its check, it could not be checked,
  /// or another file could not be written. The first error determines the exit code.
  std::vector<ooc::Error> failures{};

  /// Adds an error. An error about a wrong result is put first.
  void fail(const ooc::Error& error) {
    const bool first = error.kind() == ooc::ErrorKind::verify;
    failures.insert(first ? failures.begin() : failures.end(), error);
  }
};

}  // namespace ooc_run
