#include "run/device_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"

namespace ooc_run {
namespace {

/// Returns the rates of a machine with 16 cores, a disk and an H200.
DeviceRates server() {
  return {.cpu = {.disk = 3e9, .page_cache = 96e9, .kernel = 32e9, .start_seconds = 0},
          .gpu = {.disk = 3e9,
                  .page_cache = 96e9,
                  .h2d = 50e9,
                  .d2h = 50e9,
                  .kernel = 50e9,
                  .start_seconds = 0.25}};
}

Task work(double from_disk, double from_page_cache) {
  const double bytes = from_disk + from_page_cache;
  return {.work = {.from_disk = from_disk,
                   .from_page_cache = from_page_cache,
                   .to_device = bytes,
                   .through_kernel = bytes}};
}

TEST(ChooseDevice, TakesWhatWasAskedFor) {
  const Task small = work(1, 0);
  const std::vector<DeviceName> gpu{{ooc::DeviceKind::cuda, 1}};
  EXPECT_EQ(choose_device(gpu, small, server()).devices, gpu);
  EXPECT_EQ(choose_device(gpu, small, server()).kind(), ooc::DeviceKind::cuda);
  EXPECT_EQ(choose_device(gpu, small, server()).reason, "");
}

const DeviceName the_cpu{ooc::DeviceKind::cpu};
const std::vector<DeviceName> all_devices{
    {ooc::DeviceKind::cuda}, {ooc::DeviceKind::cuda, 1}, the_cpu};

TEST(ChooseDevice, TakesSeveralThatHelp) {
  const DeviceChoice choice = choose_device(all_devices, work(0, 600e9), server());
  EXPECT_EQ(choice.devices, all_devices);
  EXPECT_EQ(choice.reason, "");
}

TEST(ChooseDevice, TakesOneWhereOthersDoNotHelp) {
  const DeviceChoice from_disk = choose_device(all_devices, work(600e9, 0), server());
  EXPECT_EQ(from_disk.devices, std::vector{the_cpu});
  EXPECT_EQ(from_disk.reason, "the CPU alone (the disk, with about 3.00 GB/s, is slower than it)");
  const std::vector<DeviceName> gpus{all_devices.begin(), all_devices.begin() + 2};
  EXPECT_EQ(choose_device(gpus, work(600e9, 0), server()).reason,
            "cuda:0 alone (the disk, with about 3.00 GB/s, is slower than it)");
  Task remote = work(600e9, 0);
  remote.is_remote = true;
  EXPECT_EQ(choose_device(gpus, remote, server()).reason,
            "cuda:0 alone (a server is taken to be slower)");
  const DeviceChoice little = choose_device(all_devices, work(0, 1e9), server());
  EXPECT_EQ(little.devices, std::vector{the_cpu});
  EXPECT_EQ(little.reason, "the CPU alone (it is done before a GPU has started)");
  EXPECT_EQ(choose_device(gpus, work(0, 1e9), server()).devices, gpus);
}

TEST(ChooseDevice, TakesOneWhereDecodingIsSlower) {
  DeviceRates rates = server();
  rates.cpu.decode = rates.gpu.decode = 16e9;
  const Task task{.work = {.decoded = 600e9, .to_device = 600e9, .through_kernel = 600e9}};
  const std::vector<DeviceName> gpus{all_devices.begin(), all_devices.begin() + 2};
  EXPECT_EQ(choose_device(gpus, task, rates).reason,
            "cuda:0 alone (decoding, with about 16.0 GB/s, is slower than it)");
}

TEST(ChooseDevice, TakesAsManyGpusAsThePageCacheFeeds) {
  std::vector<DeviceName> gpus;
  for (int i = 0; i < 4; ++i) gpus.push_back({ooc::DeviceKind::cuda, i});
  DeviceRates rates = server();
  EXPECT_EQ(choose_device(gpus, work(0, 600e9), rates).devices, gpus);  // nothing is measured
  rates.host_copies = 77e9;
  const DeviceChoice two = choose_device(gpus, work(0, 600e9), rates);
  EXPECT_EQ(two.devices, (std::vector<DeviceName>{gpus[0], gpus[1]}));
  EXPECT_EQ(two.reason,
            "2 of 4 GPUs (the page cache gives 77.0 GB/s, and a GPU takes about 50.0 GB/s)");
  rates.host_copies = 20e9;
  EXPECT_EQ(choose_device(gpus, work(0, 600e9), rates).devices, std::vector{gpus[0]});
  rates.host_copies = 123e9;  // three would be less than a quarter faster
  EXPECT_EQ(choose_device(gpus, work(0, 600e9), rates).devices.size(), 2);
  rates.host_copies = 190e9;
  EXPECT_EQ(choose_device(gpus, work(0, 600e9), rates).devices, gpus);
  rates.host_copies = 77e9;
  EXPECT_EQ(choose_device(all_devices, work(0, 600e9), rates).devices,
            all_devices);  // the CPU copies nothing
  Task product = work(0, 600e9);
  product.only_gpus = true;
  EXPECT_EQ(choose_device(gpus, product, rates).devices, gpus);
}

TEST(ChooseDevice, TakesTheFirstForWorkThatIsNotShared) {
  Task task = work(0, 600e9);
  task.why_alone = "it writes a file";
  const DeviceChoice choice = choose_device(all_devices, task, server());
  EXPECT_EQ(choice.devices, std::vector{all_devices.front()});
  EXPECT_EQ(choice.reason, "cuda:0 alone (it writes a file)");
  DeviceRates no_gpu = server();
  no_gpu.any_gpu = false;
  const std::string why = ooc::why_no_gpu();
  EXPECT_EQ(choose_device(all_devices, task, no_gpu).devices,
            std::vector{why.empty() ? all_devices.front() : the_cpu});
}

TEST(ChooseDevice, LeavesOutTheCpuWhereOnlyGpusShare) {
  Task task = work(0, 600e9);
  task.only_gpus = true;
  const DeviceChoice choice = choose_device(all_devices, task, server());
  EXPECT_FALSE(choice.devices.empty());
  EXPECT_EQ(std::ranges::count(choice.devices, ooc::DeviceKind::cpu, &DeviceName::kind), 0);
  EXPECT_EQ(choice.reason, "the GPUs alone (a CPU would take far longer for its part)");
  const DeviceName gpus[]{{ooc::DeviceKind::cuda, 0}, {ooc::DeviceKind::cuda, 1}};
  const DeviceChoice both = choose_device(gpus, task, server());
  EXPECT_EQ(both.devices.size(), 2u);
  EXPECT_EQ(both.reason, "");
}

TEST(ChooseDevice, DoesNotStartAGpuForLittle) {
  const DeviceChoice little = choose_device({}, work(0, 100e6), server());
  EXPECT_EQ(little.kind(), ooc::DeviceKind::cpu);
  EXPECT_EQ(little.reason, "CPU (too small for a GPU to pay off)");
  // 0.42 s, against 0.25 s for the start and 1 s for the link.
  DeviceRates slow_link = server();
  slow_link.gpu.h2d = 10e9;
  const DeviceChoice more = choose_device({}, work(0, 10e9), slow_link);
  EXPECT_EQ(more.kind(), ooc::DeviceKind::cpu);
  EXPECT_EQ(more.reason, "CPU (a GPU would take 3.0 times as long)");
}

TEST(ChooseDevice, DoesNotSpeakOfTheSizeOfTheWorkWithoutAGpu) {
  DeviceRates rates = server();
  rates.any_gpu = false;
  const std::string why_not = ooc::why_no_gpu();
  if (why_not.empty()) return;  // the driver knows of one
  for (const Task& task : {work(0, 100e6), work(0, 10e9), work(0, 600e9)}) {
    EXPECT_EQ(choose_device({}, task, rates).reason, "CPU (" + why_not + ")");
  }
}

TEST(ChooseDevice, SaysThatALimitOfGpuMemoryIsIdle) {
  const DeviceChoice cpu{{the_cpu}, {}}, gpu{{{ooc::DeviceKind::cuda}}, {}}, both{all_devices, {}};
  RunSettings settings;
  EXPECT_EQ(idle_gpu_limit(cpu, settings), "");
  settings.options.device_bytes = 1;
  settings.command = "reduce";
  EXPECT_EQ(idle_gpu_limit(cpu, settings), "--vram has no effect: the CPU computes, without a GPU");
  EXPECT_EQ(idle_gpu_limit(gpu, settings), "");
  EXPECT_EQ(idle_gpu_limit(both, settings), "");
  for (const char* const command : {"matmul", "convert"}) {
    settings.command = command;
    EXPECT_EQ(idle_gpu_limit(cpu, settings), "");
  }
}

TEST(ChooseDevice, TakesTheCpuWithoutCuda) {
  DeviceRates without = server();
  without.cuda = false;
  const DeviceChoice choice = choose_device({}, work(0, 60e9), without);
  EXPECT_EQ(choice.kind(), ooc::DeviceKind::cpu);
  EXPECT_EQ(choice.reason, "CPU (" + ooc::why_no_gpu() + ")");
}

// Without a GPU, the reason depends on the driver.
TEST(ChooseDevice, TakesAGpuForMuch) {
  const struct {
    Task work;
    std::string reason;
  } cases[] = {
      {work(0, 600e9), "GPU (the CPU would take 2.0 times as long)"},
      {work(60e9, 0), "GPU (about as fast as the CPU, which stays free)"},
  };
  for (const auto& [much, reason] : cases) {
    const DeviceChoice choice = choose_device({}, much, server());
    const std::string why_not = ooc::why_no_gpu();
    if (why_not.empty()) {
      EXPECT_EQ(choice.kind(), ooc::DeviceKind::cuda);
      EXPECT_EQ(choice.reason, reason);
    } else {
      EXPECT_EQ(choice.kind(), ooc::DeviceKind::cpu);
      EXPECT_EQ(choice.reason, "CPU (" + why_not + ")");
    }
  }
}

TEST(Tasks, KnowTheirKernelAndTheirPasses) {
  const ooc::detail::test::TempDir directory;
  const auto path = directory.write("x.f32", std::string(4096, '\0'));
  const ooc::Source source = ooc::open(path);
  const Task histogram = histogram_task(source, {});
  EXPECT_EQ(histogram.file, path);
  EXPECT_EQ(histogram.kernel, "histogram f4");
  EXPECT_EQ(histogram.passes, 2u);
  EXPECT_EQ(histogram.work.through_kernel, 2 * 4096);
  EXPECT_EQ(histogram.work.from_disk + histogram.work.from_page_cache, 2 * 4096);
  EXPECT_EQ(histogram_task(source, {.range = {{0, 1}}}).passes, 1u);
  const Task by_rule = histogram_task(source, {.bins = ooc::BinRule::scott});
  EXPECT_EQ(by_rule.passes, 2u);
  EXPECT_EQ(by_rule.kernel, "") << "one pass has statistics, too";
  EXPECT_LT(by_rule.core_rate, histogram.core_rate);
  EXPECT_EQ(reduce_task(source, {}).kernel, "reduce f4");
  EXPECT_EQ(reduce_task(source, {.exact = true}).kernel, "");
  EXPECT_EQ(convert_task(source).kernel, "");
}

// Opening a file leaves its first pages in the page cache.
TEST(Tasks, ReadAheadOfWhatIsOnTheDisk) {
  const ooc::detail::test::TempDir directory;
  const auto path = directory.write("x.f32", std::string(32 * ooc::detail::MiB, '\0'));
  ooc::detail::test::evict(path);
  const ooc::Source source = ooc::open(path);
  const Workload cold = convert_task(source).work;
  EXPECT_EQ(cold.read_ahead, cold.from_disk);
  const bool can_be_evicted = ooc::detail::files_of(source)[0].direct() >= 0;
  EXPECT_GE(cold.read_ahead, can_be_evicted ? 0.9 * 32 * ooc::detail::MiB : 0);
  const ooc::detail::test::HeldInPageCache held(path, 16 * ooc::detail::MiB);
  ooc::detail::test::evict(path, 16 * ooc::detail::MiB);
  const Workload half = convert_task(source).work;
  const bool is_half_cached = ooc::detail::test::why_not_half_cached(source).empty();
  EXPECT_EQ(half.read_ahead, is_half_cached ? 0 : half.from_disk);
}

TEST(RatesToChooseBy, AreMeasuredOnesWhereThereAreAny) {
  const ooc::detail::test::TempDir directory;
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
  const Task task{.file = directory.write("x.u8", std::string(4096, '\0')),
                  .kernel = "histogram u1",
                  .core_rate = 1e9};
  EXPECT_EQ(rates_to_choose_by(task, {}).cpu.disk, 3e9);
  EXPECT_FALSE(rates_to_choose_by(task, {}).host_copies);
  write_ceilings({.file = task.file, .device = "cpu"},
                 {{.disk = 7e9, .page_cache = 12e9}, {{"histogram u1", 9e9}}});
  const DeviceRates rates = rates_to_choose_by(task, {});
  EXPECT_EQ(rates.cpu.disk, 7e9);
  EXPECT_EQ(rates.gpu.disk, 7e9);
  EXPECT_EQ(rates.cpu.page_cache, 12e9);
  EXPECT_EQ(rates.host_copies, 12e9);
  EXPECT_EQ(rates.cpu.kernel, 9e9);
  before == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", kept.c_str(), 1);
}

}  // namespace
}  // namespace ooc_run
