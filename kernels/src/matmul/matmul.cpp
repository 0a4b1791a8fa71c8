#include <ooc/detail/kernels/matmul.hpp>

#include "gemm/gemm.hpp"
#include "matmul/prepare.hpp"
#include "matmul/product_checkpoint.hpp"
#include "matmul/run.hpp"

#include <ooc/error.hpp>
#include <ooc/ranks.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

namespace ooc {

namespace {

/// The target with the shape and element type of the product.
Target shaped(Target target, const Source& a, const Source& b, const MatmulOptions& options) {
  product::require_matrices(a, b);
  target.shape = {a.shape()[0], b.shape()[1]};
  target.type = {product_type(a, options), target.type.swapped};
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

/// Bytes of memory that the output takes: its size if it is in tmpfs, else 0.
std::uint64_t bytes_in_memory(const TargetFile& file, const Target& product) {
  return file.is_tmpfs() ? elements_of(product) * size_of(product.type.element) : 0;
}

}  // namespace

MatmulPlan dry_run_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                          const MatmulOptions& options, const std::optional<Target>& target) {
  Coordinator::Reservation reservation = coordinator.reserve();
  if (!target) return product::prepare(coordinator, reservation, a, b, options, 0).plan;
  const Target product = shaped(*target, a, b, options);
  const TargetFile file(product, elements_of(product), std::array{&a, &b}, Purpose::dry_run);
  return product::prepare(coordinator, reservation, a, b, options, bytes_in_memory(file, product))
      .plan;
}

ElementType product_type(const Source& a, const MatmulOptions& options) {
  if (!a.type()) {
    const std::filesystem::path& path = a.files()[0].path();
    throw Error(ErrorKind::bad_input, path.string() + ": plain bytes have no product",
                {.path = path});
  }
  return gemm::product_type(product::precision_of(a, options));
}

Result<Product> matmul(Coordinator& coordinator, const Source& a, const Source& b,
                       const Target& target, const MatmulOptions& options,
                       const PassOptions& wanted) {
  detail::require_one_rank(coordinator.ranks());
  Coordinator::Reservation reservation = coordinator.reserve();
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const Target shaped_target = shaped(target, a, b, options);
  std::optional<product::ProductCheckpoint> saving;
  if (wanted.checkpoint) {
    saving.emplace(wanted.checkpoint, a, b, shaped_target, product::precision_of(a, options));
  }
  product::ProductCheckpoint* const checkpoint = saving ? &*saving : nullptr;
  // Created first, so that a full disk fails at once.
  const std::array sources{&a, &b};
  const detail::MadeRecords made{size_of(shaped_target.type.element), shaped_target.type, {}};
  detail::OutputFiles files(
      elements_of(shaped_target), {&shaped_target, 1}, {&made, 1}, sources,
      checkpoint != nullptr ? checkpoint->outputs() : std::span<const detail::SavedOutput>{});
  TargetFile& file = files.outputs().front().file;

  product::Prepared prepared = product::prepare(coordinator, reservation, a, b, options,
                                                bytes_in_memory(file, shaped_target), checkpoint);
  prepared.job.types.product = shaped_target.type;
  const double prepared_seconds = seconds();
  Result<Product> result;
  result.value.plan = prepared.plan;
  result.value.library = prepared.gemm->name();
  Stats& stats = result.stats;
  stats.timing.startup_seconds = prepared_seconds;
  stats.timing.device_seconds = prepared.device_seconds;
  stats.layout.device = coordinator.device().name();
  if (coordinator.devices().size() > 1) {
    stats.outcome.remarks.push_back("only " + stats.layout.device + " multiplies");
  }
  stats.layout.reasons = prepared.plan.reasons;
  stats.layout.page_cache_fraction = prepared.plan.page_cache_fraction;
  const product::ProductJob& job = prepared.job;
  if (checkpoint != nullptr) checkpoint->begin(job.problem, job.schedule, files, stats);
  if (!job.schedule.steps.empty()) {
    result.value.link_bytes =
        product::run_product(coordinator, job, *prepared.gemm, file, wanted, stats, checkpoint);
  }
  result.value.bytes_read = stats.outcome.bytes;
  result.value.bytes_written = prepared.plan.bytes_written;

  for (const Source* const source : {&a, &b}) {
    if (auto remark = source->check_unchanged())
      stats.outcome.remarks.push_back(std::move(*remark));
  }
  if (wanted.stop.stop_requested()) {
    throw checkpoint != nullptr ? checkpoint->interrupted() : product::interrupted();
  }
  files.commit(stats, [checkpoint] {
    if (checkpoint != nullptr) checkpoint->save_whole();
  });
  stats.timing.seconds = seconds();
  return result;
}

}  // namespace ooc
