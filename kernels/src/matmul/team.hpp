#pragma once

#include "matmul/plan/grid.hpp"
#include "matmul/prepare.hpp"
#include "matmul/product_checkpoint.hpp"
#include "matmul/run.hpp"

#include <ooc/coordinator.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/matmul.hpp>
#include <ooc/ranks.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ooc::detail::product {

/// The devices of this process that multiply, among those of all ranks. Each computes some blocks
/// of C, one after another, and reads what it needs for them: devices send each other nothing.
class Team {
 public:
  /// Of all devices of the coordinator, only the GPUs if a rank has some: the CPU would still
  /// multiply when they are done. All ranks call it. Throws Error(usage) if the coordinator is
  /// busy.
  explicit Team(Coordinator& coordinator);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Number of devices of all ranks.
  std::size_t size() const noexcept { return size_; }

  /// Says which devices have nothing to do, on rank 0.
  std::vector<std::string> remarks(const Grid& grid) const;

  /// Plans all blocks of this process, each on its device. Throws Error as dry_run_matmul().
  MatrixProduct plan(const Multiplication& product, const Grid& grid);

  /// Computes and writes them. `checkpoint` may be null. Adds to `stats`. Throws Error as matmul().
  MatrixProduct run(const Multiplication& product, const Grid& grid, const PassOptions& wanted,
                    ProductCheckpoint* checkpoint, Stats& stats);

  /// The time from the start of the first block here to the end of the last (seconds).
  double busy_seconds() const;

  /// Reports the progress of all ranks if that is due, while this one waits for others after run().
  void report_if_due();

 private:
  using Clock = std::chrono::steady_clock;
  struct Member;
  struct Reports;

  void deal(const Grid& grid);
  void run_all(const std::function<void(Member&, std::size_t block, const PassOptions&)>& work,
               const PassOptions& wanted, const std::function<void()>& report);
  void begin_reports(const Multiplication& product, const PassOptions& wanted, double part_done);
  void report();
  MatrixProduct sum() const;
  void add_stats(Stats& stats) const;

  Coordinator& coordinator_;
  Reservation reservation_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<Reports> reports_;  // from run() on
  std::size_t size_ = 0;
  std::size_t before_ = 0;    // devices of ranks before this one
  std::size_t left_out_ = 0;  // of all ranks, since others have GPUs
};

}  // namespace ooc::detail::product
