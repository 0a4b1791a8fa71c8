#include <ooc/kernels/matmul.hpp>

#include "gemm.hpp"
#include "matmul_job.hpp"
#include "matmul_run.hpp"

#include <ooc/io/error.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

namespace ooc {

MatmulPlan plan_matmul(Coordinator& coordinator, const Source& a, const Source& b,
                       const MatmulOptions& options) {
  return product::prepare(coordinator, a, b, options, 0).plan;
}

ElementType product_type(const Source& a, const MatmulOptions& options) {
  if (!a.type()) {
    const std::filesystem::path& path = a.files()[0].path();
    throw Error(Cause::bad_input, path.string() + ": plain bytes have no product", {.path = path});
  }
  return gemm::product_type(product::compute_of(a, options));
}

Result<Product> matmul(Coordinator& coordinator, const Source& a, const Source& b,
                       const Target& target, const MatmulOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  product::require_matrices(a, b);
  const std::array inputs{&a, &b};
  const std::uint64_t rows = a.shape()[0], columns = b.shape()[1];
  Target shaped = target;
  shaped.shape = {rows, columns};
  shaped.type.element = product_type(a, options);
  std::uint64_t elements = 0;
  if (__builtin_mul_overflow(rows, columns, &elements)) {
    throw Error(Cause::usage, target.path.string() + ": so large a file there cannot be",
                {.path = target.path});
  }
  TargetFile file(shaped, elements, inputs);  // first: a full disk is to fail at once

  const double opened_seconds = seconds();
  coordinator.device().bind_to_thread();
  const double device_seconds = seconds() - opened_seconds;
  const std::uint64_t bytes = elements * size_of(shaped.type.element);
  product::Prepared prepared =
      product::prepare(coordinator, a, b, options, file.lies_in_memory() ? bytes : 0);
  prepared.job.types.product = shaped.type;
  const double prepared_seconds = seconds();
  Result<Product> result;
  result.value.plan = prepared.plan;
  result.value.library = prepared.gemm->name();
  Stats& stats = result.stats;
  stats.startup_seconds = prepared_seconds;
  stats.device_seconds = device_seconds;
  stats.device = coordinator.device().name();
  stats.reasons = prepared.plan.reasons;
  stats.page_cache_fraction = prepared.plan.page_cache_fraction;
  if (!prepared.job.schedule.steps.empty()) {
    result.value.link_bytes =
        product::run_product(coordinator, prepared.job, *prepared.gemm, file, stats);
  }
  result.value.bytes_read = stats.bytes;
  result.value.bytes_written = bytes;

  for (const Source* const source : {&a, &b}) {
    if (auto remark = source->check_unchanged()) stats.reasons.push_back(std::move(*remark));
  }
  const double before_publishing = seconds();
  file.publish();
  stats.seconds = seconds();
  stats.publish_seconds = stats.seconds - before_publishing;
  return result;
}

}  // namespace ooc
