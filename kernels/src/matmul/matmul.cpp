#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/matmul.hpp>

#include "gemm/gemm.hpp"
#include "matmul/operands.hpp"
#include "matmul/plan/grid.hpp"
#include "matmul/prepare.hpp"
#include "matmul/product_checkpoint.hpp"
#include "matmul/product_sum.hpp"
#include "matmul/run.hpp"
#include "matmul/team.hpp"

#include <ooc/detail/ranks/together.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

namespace ooc {

using namespace detail;

namespace {

using Clock = std::chrono::steady_clock;

/// Returns the target with the shape and element type of the product.
Target shaped(Target target, const Source& a, const Source& b, const MatmulOptions& options) {
  product::require_matrices(a, b);
  target.shape = {a.shape()[0], b.shape()[1]};
  target.type = DType{product_type(a, options), target.type.value_or(DType{}).swapped};
  return target;
}

std::uint64_t elements_of(const Target& product) {
  std::uint64_t elements = 0;
  if (__builtin_mul_overflow(product.shape[0], product.shape[1], &elements)) {
    throw Error(ErrorKind::usage, product.path.string() + ": so large a file there cannot be",
                {.path = product.path});
  }
  return elements;
}

product::Grid cut(const product::Multiplication& product, std::size_t devices) {
  return product::cut_into_blocks(product.rows(), product.columns(), size_of(product.type.element),
                                  devices);
}

/// Returns the reason for the blocks, if there are several.
std::optional<Reason> reason_of(const product::Grid& grid) {
  if (grid.size() == 1) return std::nullopt;
  return Reason{.what = ReasonKind::product_blocks,
                .figures = {grid.row_blocks(), grid.column_blocks()}};
}

/// Completes the plan of this process's blocks: sets the fields that describe the whole product.
void complete(MatmulPlan& plan, const product::Multiplication& product, const product::Grid& grid) {
  plan.rows = product.rows();
  plan.columns = product.columns();
  plan.inner = product.a.shape()[1];
  plan.type = product.type;
  plan.precision = product.precision;
  plan.row_blocks = grid.row_blocks();
  plan.column_blocks = grid.column_blocks();
  if (const auto reason = reason_of(grid)) plan.reasons.insert(plan.reasons.begin(), *reason);
}

/// The arguments of matmul().
struct ProductRequest {
  Coordinator& coordinator;
  const Source& a;
  const Source& b;
  const Target& target;
  const MatmulOptions& options;
  const PassOptions& wanted;
};

/// Computes and writes the blocks of this process, and waits until all ranks have done so. Throws
/// Error, which tells the user what a checkpoint has kept.
MatrixProduct run_blocks(product::Team& team, const product::Multiplication& product,
                         const product::Grid& grid, const PassOptions& wanted,
                         product::ProductCheckpoint* checkpoint, Stats& stats) {
  try {
    const auto throw_if_stopped = [&] {
      if (wanted.stop.stop_requested()) throw product::interrupted();
    };
    MatrixProduct done = team.run(product, grid, wanted, checkpoint, stats);
    if (checkpoint != nullptr) {
      checkpoint->save();
      checkpoint->meet([&] {
        team.report_if_due();
        throw_if_stopped();
      });
    }
    throw_if_stopped();
    return done;
  } catch (const Error& error) {
    if (checkpoint == nullptr) throw;
    if (error.kind() != ErrorKind::interrupted) throw checkpoint->with_kept_files(error);
    checkpoint->save();
    throw checkpoint->interrupted(error);
  }
}

/// Exchanges the statistics of all ranks. `busy_seconds`: busy time of this rank.
void share_stats(Ranks& ranks, double busy_seconds, Stats& stats) {
  const bool has_worked = stats.outcome.bytes_written != 0;
  stats.ranks = detail::exchange_shares(ranks, {.device = has_worked ? stats.layout.device : "",
                                                .bytes = stats.outcome.bytes,
                                                .bytes_written = stats.outcome.bytes_written,
                                                .busy_seconds = has_worked ? busy_seconds : 0,
                                                .start_seconds = stats.timing.startup_seconds});
  stats.outcome.remarks = detail::exchange_remarks(ranks, stats.outcome.remarks);
  stats.outcome.bytes = stats.outcome.bytes_written = 0;
  for (const RankShare& share : stats.ranks) {
    stats.outcome.bytes += share.bytes;
    stats.outcome.bytes_written += share.bytes_written;
  }
}

Result<MatrixProduct> multiply(const ProductRequest& request) {
  const auto& [coordinator, a, b, target, options, wanted] = request;
  const Clock::time_point start = Clock::now();
  const auto seconds = [start] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  Ranks* const ranks = coordinator.ranks();
  const bool is_first = ranks == nullptr || ranks->is_first();
  const Target product_target = shaped(target, a, b, options);
  product::Multiplication product{a, b, product::precision_of(a, options),
                                  product_target.known_type()};
  product::Team team(coordinator);
  std::optional<product::ProductCheckpoint> saving;
  if (wanted.checkpoint || ranks != nullptr) {
    saving.emplace(wanted.checkpoint, ranks, a, b, product_target, product.precision);
  }
  product::ProductCheckpoint* const checkpoint = saving ? &*saving : nullptr;
  // Create the files first, so that a full disk is noticed before any work is done.
  const std::array sources{&a, &b};
  const detail::MadeRecords made{size_of(product_target.known_type()), product_target.type, {}};
  detail::OutputFiles files(
      elements_of(product_target), {&product_target, 1}, {&made, 1}, sources,
      is_first ? Purpose::write : Purpose::join,
      checkpoint != nullptr ? checkpoint->outputs() : std::span<const detail::SavedOutput>{});
  product.file = &files.outputs().front().file;

  Result<MatrixProduct> result;
  Stats& stats = result.stats;
  product::Grid grid = cut(product, team.size());
  if (checkpoint != nullptr) {
    checkpoint->begin(std::move(grid), files, stats);
    grid = checkpoint->grid();
  }
  std::ranges::move(team.remarks(grid), std::back_inserter(stats.outcome.remarks));
  const MatrixProduct own = run_blocks(team, product, grid, wanted, checkpoint, stats);
  for (const Source* const source : sources) {
    if (auto remark = source->check_unchanged())
      stats.outcome.remarks.push_back(std::move(*remark));
  }
  if (ranks != nullptr) share_stats(*ranks, team.busy_seconds(), stats);
  result.value = product::sum_of_ranks(ranks, own);
  complete(result.value.plan, product, grid);
  if (const auto reason = reason_of(grid)) {
    stats.layout.reasons.insert(stats.layout.reasons.begin(), *reason);
  }
  detail::do_as_first(ranks, [&] {
    files.commit(stats, [checkpoint] {
      if (checkpoint != nullptr) checkpoint->save_whole();
    });
  });
  stats.timing.seconds = seconds();
  return result;
}

}  // namespace

MatmulPlan dry_run_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                          const MatmulOptions& options, const std::optional<Target>& target) {
  return detail::or_fail_together(coordinator.ranks(), [&] {
    product::require_matrices(a, b);
    product::Multiplication product{
        a, b, product::precision_of(a, options), {product_type(a, options), false}};
    std::optional<TargetFile> file;
    if (target) {
      const Target product_target = shaped(*target, a, b, options);
      product.type = product_target.known_type();
      product.file = &file.emplace(product_target, elements_of(product_target), std::array{&a, &b},
                                   Purpose::dry_run);
    }
    product::Team team(coordinator);
    const product::Grid grid = cut(product, team.size());
    MatmulPlan plan = product::sum_of_ranks(coordinator.ranks(), team.plan(product, grid)).plan;
    complete(plan, product, grid);
    return plan;
  });
}

ElementType product_type(const Source& a, const MatmulOptions& options) {
  if (!a.type()) {
    const std::filesystem::path path = path_of(a);
    throw Error(ErrorKind::bad_input, path.string() + ": plain bytes have no product",
                {.path = path});
  }
  return gemm::product_type(product::precision_of(a, options));
}

Result<MatrixProduct> matmul(Coordinator& coordinator, const Source& a, const Source& b,
                             const Target& target, const MatmulOptions& options,
                             const PassOptions& wanted) {
  return detail::or_fail_together(coordinator.ranks(), [&] {
    return multiply({coordinator, a, b, target, options, wanted});
  });
}

}  // namespace ooc
