#include "matmul/prepare.hpp"

#include "matmul/memory.hpp"
#include "matmul/plan/cost.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/device/numa.hpp>
#include <ooc/detail/sizing/facts.hpp>
#include <ooc/detail/sizing/typical_rates.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace ooc::detail::product {

namespace {

constexpr double mostly_cached = 0.5;

const File& file_of(const Source& source) {
  return files_of(source)[storage_of(source).front().file];
}

/// Returns the part of a matrix that begins at this row and column.
StoredMatrix from(StoredMatrix whole, std::uint64_t row, std::uint64_t column) {
  whole.offset += row * whole.row_bytes() + column * whole.element_bytes;
  return whole;
}

StoredMatrix stored(const Source& source, std::uint32_t file) {
  return {.file = file,
          .offset = storage_of(source).front().offset,
          .columns = source.shape()[1],
          .element_bytes = size_of(source.type()->element)};
}

StoredMatrix stored_product(const Multiplication& product) {
  return {.offset = product.file == nullptr ? 0 : product.file->data_offset(),
          .columns = product.columns(),
          .element_bytes = size_of(product.type.element)};
}

/// Returns the bytes of memory that the output takes: its size if it is in tmpfs, else 0.
std::uint64_t output_in_memory(const Multiplication& product) {
  if (product.file == nullptr || !product.file->is_tmpfs()) return 0;
  return product.rows() * product.columns() * size_of(product.type.element);
}

/// Returns the fraction of both operands in the page cache. Empty if it is unknown.
std::optional<double> cached_fraction(const SourceFacts& a, const SourceFacts& b) {
  const auto of_a = static_cast<double>(a.bytes()), of_b = static_cast<double>(b.bytes());
  if (!a.cached || !b.cached || of_a + of_b == 0) return {};
  return (*a.cached * of_a + *b.cached * of_b) / (of_a + of_b);
}

Problem problem_of(const Region& block, std::uint64_t inner, const Types& types) {
  return {.rows = block.rows,
          .columns = block.columns,
          .inner = inner,
          .file_bytes = size_of(types.file.element),
          .operand_bytes = size_of(types.operand),
          .product_bytes = size_of(types.product.element)};
}

/// Chooses the engine for remote files if either file is remote; threads if either needs them;
/// direct I/O if either file allows it. The reader then decides for each file. `cached`: fraction
/// of both files.
IoConfig choose_reads(const Options& limits, const DeviceFacts& device, Workers workers,
                      SourceFacts a, SourceFacts b, double cached) {
  a.cached = b.cached = cached;
  a.needs_threads = b.needs_threads = a.needs_threads || b.needs_threads;
  const IoConfig of_a = choose_read_config(limits, device, workers, a);
  const IoConfig of_b = choose_read_config(limits, device, workers, b);
  const auto is_remote = [](const IoConfig& config) { return config.engine == EngineKind::http; };
  const bool takes_a = is_remote(of_a) || (of_a.direct && !is_remote(of_b));
  IoConfig config = takes_a ? of_a : of_b;
  if (!config.reason) config.reason = of_a.reason ? of_a.reason : of_b.reason;
  return config;
}

double flops_of(const Problem& problem) {
  return 2 * problem.products();
}

/// Measures floating-point operations per second with a product whose time is negligible beside
/// that of the planned product. Empty if no product is that small, or if there is not enough memory
/// for it.
std::optional<double> measure_flops(Device& device, gemm::Gemm& gemm, const Problem& problem,
                                    std::uint64_t device_bytes) {
  constexpr int runs = 3;
  constexpr double least_share = 100;
  const bool on_cpu = device.reads_host_memory();
  // Smaller products do not occupy the whole device.
  const std::uint64_t least_edge = on_cpu ? 512 : 4096;
  std::uint64_t edge = on_cpu ? 1024 : 4096;
  const auto probe_of = [&](std::uint64_t size) {
    return Problem{
        size, size, size, problem.file_bytes, problem.operand_bytes, problem.product_bytes};
  };
  while (flops_of(problem) < least_share * flops_of(probe_of(edge))) {
    if (edge == least_edge) return {};
    edge /= 2;
  }
  const Problem probe = probe_of(edge);
  const std::uint64_t bytes = edge * edge * (2 * probe.operand_bytes + probe.product_bytes);
  if (bytes > device_bytes / 2) return {};
  auto& memory = device.working_memory();
  const Buffer a(memory, edge * edge * probe.operand_bytes);
  const Buffer b(memory, edge * edge * probe.operand_bytes);
  const Buffer c(memory, edge * edge * probe.product_bytes);
  const auto stream = device.make_stream();
  stream->fill_zero(a.data(), a.size());
  stream->fill_zero(b.data(), b.size());
  double best = 0;
  for (int run = 0; run < runs; ++run) {
    stream->synchronize();
    const auto start = std::chrono::steady_clock::now();
    gemm.multiply(*stream, {a.data(), edge}, {b.data(), edge}, {c.data(), edge}, {edge, edge, edge},
                  false);
    stream->synchronize();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, flops_of(probe) / seconds.count());
  }
  return best;
}

/// Returns the rates for the plan of one of `devices` devices that multiply at once. The rates of
/// disks and of the link are typical values, since nothing has been read yet.
Rates rates_for(const DeviceFacts& device, std::size_t devices, bool cached) {
  const auto share = [&](double of_all) { return of_all / static_cast<double>(devices); };
  Rates rates{.read = share(typical::disk), .write = share(typical::disk)};
  if (cached) {
    rates.link = std::min(rates.link, share(typical::all_gpu_page_cache));
    rates.read = device.uses_host_cores ? typical::page_cache : typical::gpu_page_cache;
    rates.write = typical::cached_writes;
    // Threads that copy from or to the page cache take turns, and are woken for each row.
    rates.row_seconds = 2.5e-6;
  }
  if (device.reads_host_memory) rates.link = typical::host_copy;
  if (device.uses_host_cores) rates.flops = typical::cpu_flops;
  return rates;
}

/// Returns how many times the panels of an operand are loaded, on average and rounded up.
std::uint64_t passes_over(const Schedule& schedule, Operand operand) {
  const Tiling& tiling = schedule.tiling;
  if (schedule.loads.empty()) return 0;
  const std::uint64_t others = operand == Operand::a ? tiling.row_tiles : tiling.column_tiles;
  const auto loads = std::ranges::count(schedule.loads, operand, &Load::operand);
  return divide_up(static_cast<std::uint64_t>(loads), others * tiling.inner_tiles);
}

Reason reason_of(const Schedule& schedule) {
  const Tiling& tiling = schedule.tiling;
  const std::uint64_t of_a = passes_over(schedule, Operand::a);
  const std::uint64_t of_b = passes_over(schedule, Operand::b);
  switch (tiling.resident) {
    case Resident::a: return {.what = ReasonKind::resident_a, .figures = {of_a, of_b}};
    case Resident::b: return {.what = ReasonKind::resident_b, .figures = {of_a, of_b}};
    case Resident::c:
      return {.what = ReasonKind::resident_c,
              .figures = {of_a, of_b, tiling.row_tiles, tiling.column_tiles}};
  }
  __builtin_unreachable();
}

MatmulPlan describe(const ProductJob& job, Precision precision, std::uint64_t device_bytes) {
  const Problem& problem = job.problem;
  const Tiling& tiling = job.schedule.tiling;
  const Cost& cost = job.schedule.cost;
  MatmulPlan plan;
  plan.rows = problem.rows;
  plan.columns = problem.columns;
  plan.inner = problem.inner;
  plan.type = job.types.product;
  plan.precision = precision;
  plan.resident = tiling.resident == Resident::a ? "A" : tiling.resident == Resident::b ? "B" : "C";
  plan.tile_rows = tiling.tile_rows;
  plan.tile_columns = tiling.tile_columns;
  plan.tile_inner = tiling.tile_inner;
  plan.passes =
      std::max(passes_over(job.schedule, Operand::a), passes_over(job.schedule, Operand::b));
  plan.device_bytes = device_bytes;
  plan.cache_bytes = tiling.cache_entries * tiling.cache_entry_bytes;
  plan.link_bytes = cost.link_in_bytes + cost.link_out_bytes;
  plan.bytes_read = cost.read_bytes;
  plan.bytes_written = cost.write_bytes;
  plan.direct = job.reads.direct;
  plan.flops = cost.flops;
  if (!job.schedule.steps.empty()) plan.reasons.push_back(reason_of(job.schedule));
  if (plan.cache_bytes != 0) {
    plan.reasons.push_back({.what = ReasonKind::cached_panels, .figures = {tiling.cache_entries}});
  }
  if (job.reads.reason) plan.reasons.push_back(*job.reads.reason);
  return plan;
}

/// Binds the thread to the device and, if there are several, to its NUMA node. Returns the seconds
/// that it waited for the device to start.
double bind(const Workplace& place) {
  const auto began = std::chrono::steady_clock::now();
  place.device.bind_to_thread();
  if (place.devices > 1) bind_to_numa_node(place.device.numa_node());
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
  return waited.count();
}

/// Returns the job for a block of C. Its reads, pools and schedule are not set yet.
ProductJob job_of(const Workplace& place, const Multiplication& product, const Region& block) {
  const Source &a = product.a, &b = product.b;
  const ElementType element = a.type()->element;
  ProductJob job;
  job.types = {*a.type(), gemm::operand_type(place.device.kind(), product.precision, element),
               product.type};
  job.problem = problem_of(block, a.shape()[1], job.types);
  job.files = {&file_of(a), &file_of(b)};
  job.operands = {from(stored(a, 0), block.row, 0), from(stored(b, 1), 0, block.column)};
  job.product = from(stored_product(product), block.row, block.column);
  job.workers = choose_workers(place.options, place.device.facts());
  job.threads = place.options.threads != 0 ? place.options.threads : job.workers.lanes;
  return job;
}

}  // namespace

Prepared prepare(const Workplace& place, const Multiplication& product, const Region& block,
                 const std::optional<ProductCheckpoint::Begun>& begun) {
  Device& device = place.device;
  std::jthread library = gemm::load_early(device.kind());  // overlaps with the start of the GPU
  Prepared prepared;
  prepared.device_seconds = bind(place);
  device.device_memory().restart_peak();
  ProductJob& job = prepared.job = job_of(place, product, block);
  SourceFacts of_a = facts_of(product.a), of_b = facts_of(product.b);
  const std::optional<double> cached_or_unknown = cached_fraction(of_a, of_b);
  const double cached = cached_or_unknown.value_or(0);
  job.reads = choose_reads(place.options, device.facts(), job.workers, std::move(of_a),
                           std::move(of_b), cached);
  // Files in the page cache are in host memory already, so caching their panels would gain little.
  const bool keeps = !device.reads_host_memory() && cached < mostly_cached;
  Rates rates = rates_for(device.facts(), place.devices, cached >= mostly_cached);
  const MemoryDivision division(place, output_in_memory(product), keeps, begun);
  const Memory memory = division.divide(job, rates);

  if (memory.workspace != 0) prepared.workspace = Buffer(device.device_memory(), memory.workspace);
  if (library.joinable()) library.join();
  prepared.gemm =
      gemm::make_gemm(device.kind(), product.precision, job.types.operand,
                      {prepared.workspace.data(), prepared.workspace.size()}, job.threads);

  const std::optional<double> measured =
      measure_flops(device, *prepared.gemm, job.problem, memory.for_panels);
  rates.flops = measured.value_or(rates.flops);
  job.schedule = division.schedule(job, memory, rates);
  prepared.plan =
      describe(job, product.precision,
               job.schedule.cost.device_bytes + memory.workspace + job.pools.staging_bytes);
  prepared.plan.page_cache_fraction = cached_or_unknown;
  if (measured) {
    prepared.plan.multiplying_seconds =
        multiplying_seconds(job.problem, job.schedule.tiling, rates) * job.schedule.cost.flops /
        flops_of(job.problem);
  }
  return prepared;
}

}  // namespace ooc::detail::product
