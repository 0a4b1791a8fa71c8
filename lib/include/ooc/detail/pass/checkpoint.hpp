#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>

#include <filesystem>

namespace ooc {

/// A file from which a job goes on if it was stopped or killed. If the file is there, the job goes
/// on from what it says; it must be the same job, on the same data. The file is written when the
/// job begins, from time to time, when it is stopped, and when it is complete. It stays, so that
/// the caller can remove it when the result is safe. It appears whole or not at all. Jobs that run
/// at one time need files of their own.
///
/// Folds, maps, filters and scans have checkpoints. The output of a job that writes stays beside
/// the target until it is whole, as `.NAME.XXXXXXXX.ooc-part`, and is made durable before the file
/// says of it. A job that has moved all outputs into place finds them there.
///
///     // The second run begins where the first was killed.
///     const auto [sum, stats] =
///         ooc::fold(coordinator, Sum{}, prices, {.checkpoint = {.file = "sum.part"}});
///     std::cout << sum << std::endl;
///     std::filesystem::remove("sum.part");
struct Checkpoint {
  std::filesystem::path file{};  ///< the file, in the format of a PartFile; empty: there is none
  double every_seconds = 30;     ///< time from one save to the next; 0: after each partition

  /// True if there is a file.
  explicit operator bool() const noexcept { return !file.empty(); }
};

/// Throws Error(usage) if there is one, for jobs that cannot have it.
OOC_API void require_none(const Checkpoint& checkpoint);

}  // namespace ooc
