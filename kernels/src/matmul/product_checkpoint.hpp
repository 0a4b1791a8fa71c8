#pragma once

#include "matmul/plan/schedule.hpp"

#include <ooc/detail/kernels/matmul.hpp>
#include <ooc/detail/operators/checkpoint_file.hpp>
#include <ooc/detail/operators/outputs.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ooc::product {

/// The checkpoint of a product (see Checkpoint): the tiling, and how many tiles of C are in the
/// file, in the order of the schedule. Records are elements of C in that order.
class ProductCheckpoint {
 public:
  /// The work of an earlier run.
  struct Begun {
    Tiling tiling{};
    std::uint64_t tiles = 0;
  };

  /// Reads the file if it is there. Throws Error as CheckpointFile.
  ProductCheckpoint(const Checkpoint& wanted, const Source& a, const Source& b,
                    const Target& target, Precision precision);

  /// Returns the output as the file knows it.
  std::span<const detail::SavedOutput> outputs() const noexcept { return file_.outputs(); }

  /// Returns what an earlier run has done of a product. Throws Error(bad_input) unless that is a
  /// tiling of it.
  std::optional<Begun> begun(const Problem& problem) const;

  /// Saves that no more is done than at the beginning of the schedule, and keeps the output from
  /// now on. All must outlive this object. Throws Error(output).
  void begin(const Problem& problem, const Schedule& schedule, detail::OutputFiles& files,
             Stats& stats);

  /// True if it is time to save, and there is more than at the last time. `tiles`: of the schedule
  /// that are written.
  bool is_due(std::uint64_t tiles) const;

  /// Makes the output durable, and saves that so many tiles of the schedule are in it. Throws
  /// Error(output) for the output, and does nothing after that, since the next attempt would
  /// succeed although bytes are lost. If the file cannot be written, the statistics have a remark.
  void save(std::uint64_t tiles);

  /// Saves that the output is whole.
  void save_whole();

  /// Returns the error for a product that was stopped, and one that says what is kept.
  Error interrupted() const;
  Error with_kept_files(const Error& error) const;

 private:
  using Clock = std::chrono::steady_clock;

  PartFile found(std::uint64_t tiles) const;
  std::string kept() const;

  Checkpoint wanted_;
  detail::CheckpointFile file_;
  const PartFile* saved_ = nullptr;  // by an earlier run
  const Problem* problem_ = nullptr;
  const Schedule* schedule_ = nullptr;
  detail::OutputFiles* files_ = nullptr;
  Stats* stats_ = nullptr;
  std::uint64_t saved_tiles_ = 0;  // of the schedule
  bool is_lost_ = false;           // the output could not be made durable
  Clock::time_point saved_at_ = Clock::now();
  std::string why_not_saved_{};  // empty: the last time succeeded
};

}  // namespace ooc::product
