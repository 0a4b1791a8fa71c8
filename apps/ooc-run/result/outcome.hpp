#pragma once

#include <ooc/error.hpp>
#include <string>
#include <vector>

#include "result/document.hpp"

namespace ooc_run {

/// The texts that a command returns for main() to print. A command itself prints only progress,
/// warnings about the meaning of the answer and, if it fails, the files that it leaves behind.
struct Outcome {
  Document document;                 // for stdout, whole or not at all
  std::vector<std::string> reasons;  // for stderr with --verbose: why it was done this way
  std::vector<std::string> notes;    // for stderr unless --quiet: other events of the run
  std::string verdict;               // for stderr unless --quiet: the bottleneck; may be empty
  bool partial = false;              // interrupted: the result covers a part of the input
  std::string written{};             // path of the committed output; empty if there is none
  std::string checkpoint{};          // to be removed when the result was printed; may be empty

  /// Errors after which the result is shown nevertheless: it failed its check, it could not be
  /// checked, or another file could not be written. The first error determines the exit code.
  std::vector<ooc::Error> failures{};

  /// Adds an error. That of a wrong result becomes the first one.
  void fail(const ooc::Error& error) {
    const bool first = error.kind() == ooc::ErrorKind::verify;
    failures.insert(first ? failures.begin() : failures.end(), error);
  }
};

}  // namespace ooc_run
