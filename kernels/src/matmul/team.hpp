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

/// The devices of this process that multiply, a part of those of all ranks. Each computes its
/// blocks one after another and reads their operands: devices exchange no data.
class Team {
 public:
  /// Takes all devices of the coordinator; only the GPUs if any rank has some, since a CPU would
  /// still multiply long after they are done. All ranks must call it. Throws Error(usage) if the
  /// coordinator is busy.
  explicit Team(Coordinator& coordinator);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Returns the number of devices of all ranks.
  std::size_t size() const noexcept { return size_; }

  /// Returns remarks on devices without work; none on ranks other than 0.
  std::vector<std::string> remarks(const Grid& grid) const;

  /// Plans all blocks of this process, each on its device. Throws Error as dry_run_matmul().
  MatrixProduct plan(const Multiplication& product, const Grid& grid);

  /// Computes and writes all blocks. `checkpoint` may be null. Adds to `stats`. Throws as matmul().
  MatrixProduct run(const Multiplication& product, const Grid& grid, const PassOptions& wanted,
                    ProductCheckpoint* checkpoint, Stats& stats);

  /// Returns the seconds from the start of this process's first block to the end of its last.
  double busy_seconds() const;

  /// Reports the progress of all ranks if a report is due. For waits for other ranks after run().
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
  std::unique_ptr<Reports> reports_;  // set by run()
  std::size_t size_ = 0;
  std::size_t before_ = 0;    // number of devices of the ranks before this one
  std::size_t left_out_ = 0;  // devices of all ranks that do not multiply, since others are GPUs
};

}  // namespace ooc::detail::product
