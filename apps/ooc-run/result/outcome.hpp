#pragma once

#include <ooc/io/error.hpp>
#include <string>
#include <vector>

namespace ooc_run {

/// The texts that a command returns for main() to print. A command itself prints only progress,
/// warnings about the meaning of the answer and, if it fails, the files that it leaves behind.
struct Outcome {
  std::string document;              // for stdout, in one piece
  std::vector<std::string> reasons;  // for stderr with --verbose: why it was done this way
  std::vector<std::string> notes;    // for stderr unless --quiet: what happened besides
  std::string verdict;               // the same: what bounded the run; may be empty
  bool partial = false;              // interrupted: a result of a part of the input
  std::string written{};             // the path of the output that is in its place now, if any

  /// What went wrong beside the result, which is shown nevertheless: a check that it did not
  /// withstand or that could not be made, or another file that could not be written. The first is
  /// the reason for the exit code.
  std::vector<ooc::Error> failures{};

  /// Adds one: a wrong result before all else.
  void fail(const ooc::Error& error) {
    const bool first = error.kind() == ooc::ErrorKind::verify;
    failures.insert(first ? failures.begin() : failures.end(), error);
  }
};

}  // namespace ooc_run
