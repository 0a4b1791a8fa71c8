#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/counted_new.hpp"
#include "support/data_file.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail::test {

/// Expects that passes that differ only in their number of chunks make equally many allocations: of
/// host memory, of device memory and by operator new. `pass(coordinator, source)` runs a pass over
/// the floats of `source` and returns its Stats.
template <class Pass>
void expect_no_allocation_per_chunk(DeviceKind device, Pass&& pass) {
  constexpr std::uint64_t few = 20, many = 40;
  // With few threads, and without a deep queue of direct reads, the pool needs fewer slots than
  // there are chunks, and equally many in each pass.
  const Options options{
      .chunk_bytes = 256 * KiB, .streams = 2, .threads = 4, .direct = DirectIo::no};
  const TempDir dir;
  const auto path = dir.path() / "in.f32";
  write_file(path, std::vector<float>(many * options.chunk_bytes / sizeof(float), 1));

  const auto allocations = [&](std::uint64_t chunks) {
    Coordinator coordinator(make_device(device), options);
    coordinator.device().bind_to_thread();  // a GPU that starts during a pass allocates
    std::vector<File> files;
    files.push_back(File::open(path));
    const std::vector<Extent> part{{0, 0, chunks * options.chunk_bytes}};
    const Source source = SourceAccess::of_files(std::move(files), part, {ElementType::f4, false});
    const auto device_before = coordinator.device().device_memory().allocations();
    const auto host_before = coordinator.device().host_memory().allocations();
    const auto new_before = count_of_new();
    const Stats stats = pass(coordinator, source);
    const std::vector<std::uint64_t> counts{
        count_of_new() - new_before,
        coordinator.device().device_memory().allocations() - device_before,
        coordinator.device().host_memory().allocations() - host_before};
    EXPECT_EQ(stats.layout.chunks, chunks);
    EXPECT_LT(stats.layout.slots, stats.layout.chunks);
    return counts;
  };
  allocations(few);  // not counted: the first pass of a process allocates more
  // A lane that happens to draw no step allocates nothing for its steps, so passes are repeated
  // until the lanes of two were alike. If each chunk allocated, no two would be.
  constexpr int most_tries = 20;
  std::vector<std::uint64_t> of_few, of_many;
  for (int i = 0; i < most_tries && (i == 0 || of_few != of_many); ++i) {
    of_few = allocations(few);
    of_many = allocations(many);
  }
  EXPECT_EQ(of_few, of_many);
}

}  // namespace ooc::detail::test
