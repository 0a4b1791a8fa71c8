#include "bench/pass.hpp"

#include <fmt/core.h>

#include <cmath>
#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <ooc/error.hpp>
#include <ooc/histogram.hpp>
#include <utility>

#include "machine/environment.hpp"
#include "measure/figures.hpp"
#include "measure/page_cache.hpp"

namespace ooc_run {
namespace {

constexpr double cold_enough = 0.01;  // fraction of a file that may stay in the page cache

}  // namespace

ooc::Source part_of_file(const std::string& path, std::uint64_t begin, std::uint64_t bytes) {
  std::vector<ooc::detail::File> files;
  files.push_back(ooc::detail::File::open(path));
  ooc::Source source = ooc::detail::SourceAccess::of_files(std::move(files), {{0, begin, bytes}},
                                                           {ooc::ElementType::u1});
  source.type_reason = "read as plain bytes";
  return source;
}

PageCache::PageCache(const std::string& path, std::uint64_t warm_bytes)
    : file_(ooc::detail::File::open(path)), warm_bytes_(warm_bytes) {
  if (is_tmpfs(path)) {
    why_not_cold_ = in_memory;
    return;
  }
  ooc::detail::measure::evict(file_);
  const auto left = ooc::detail::page_cache_fraction(part_of_file(path, 0, file_.size()));
  if (!left) {
    why_not_cold_ = "the kernel does not tell what lies in the page cache";
  } else if (*left > cold_enough) {
    why_not_cold_ = fmt::format("{:.0f} % of the file stay in the page cache", 100 * *left);
  }
}

void PageCache::evict() {
  ooc::detail::measure::evict(file_);
}

void PageCache::warm() {
  ooc::detail::measure::warm(file_, warm_bytes_, ooc::detail::usable_cores());
}

MeasuredPass measure_pass(ooc::Coordinator& coordinator, const ooc::Source& source,
                          const std::stop_token& stop) {
  const double before = ooc::detail::measure::cpu_seconds();
  ooc::Stats stats =
      ooc::histogram(coordinator, source, {}, {.stop = stop, .keep_partial = true}).stats;
  const double after = ooc::detail::measure::cpu_seconds();
  if (stats.outcome.partial) check_stop(stop);
  return {std::move(stats), after - before};
}

void check_stop(const std::stop_token& stop) {
  if (!stop.stop_requested()) return;
  throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted; nothing was kept");
}

}  // namespace ooc_run
