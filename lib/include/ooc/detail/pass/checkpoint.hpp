#pragma once

#include <ooc/detail/base/language.hpp>

#include <filesystem>

namespace ooc {

/// A file from which a job goes on if it was stopped or killed. If the file is there, the job goes
/// on from what it says; it must be the same job, on the same data. The file is written when the
/// job begins, from time to time, and when the job is stopped; it is removed at success. It appears
/// whole or not at all, so that one that was there stays until it is replaced. Jobs that run at one
/// time need files of their own.
///
///     // The second run begins where the first was killed.
///     const auto [sum, stats] =
///         ooc::fold(coordinator, Sum{}, prices, {.checkpoint = {.file = "sum.part"}});
struct Checkpoint {
  std::filesystem::path file{};  ///< the file, in the format of a PartFile; empty: there is none
  double every_seconds = 30;     ///< time from one save to the next; 0: after each partition

  /// True if there is a file.
  explicit operator bool() const noexcept { return !file.empty(); }
};

}  // namespace ooc
