// Products that several devices or ranks share.

#include "matmul/team.hpp"

#include <ooc/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "kernels/matmul/shared_product_fixture.hpp"
#include "support/faulty_device.hpp"

namespace ooc::detail {
namespace {

using test::LocalRanks;

using SharedProduct = test::SharedProduct;

constexpr test::ProductShape shared_shapes[]{
    {300, 70, 2048}, {2100, 50, 1001}, {64, 300, 1024}, {5, 7, 11}};

TEST_F(SharedProduct, OfDevicesIsThatOfOne) {
  for (const auto& [rows, inner, columns] : shared_shapes) {
    const Source a = matrix("a.f32", rows, inner), b = matrix("b.f32", inner, columns);
    const std::string one = expected(a, b);
    for (const std::size_t count : {2u, 3u, 4u}) {
      Coordinator team(cpus(count), limited());
      const auto [product, stats] = matmul(team, a, b, target());
      EXPECT_TRUE(made() == one) << rows << ' ' << columns << ' ' << count;
      const std::size_t blocks = product.plan.row_blocks * product.plan.column_blocks;
      EXPECT_EQ(blocks, product::cut_into_blocks(rows, columns, sizeof(float), count).size());
      EXPECT_EQ(stats.devices.size(), blocks == 1 ? 0 : blocks);
      EXPECT_EQ(stats.outcome.bytes_written, rows * columns * sizeof(float));
      EXPECT_EQ(product.bytes_written, rows * columns * sizeof(float));
      EXPECT_EQ(product.bytes_read, product.plan.bytes_read);
      EXPECT_FALSE(stats.layout.engine.empty());
      for (const Reason& reason : product.plan.reasons) {
        EXPECT_EQ(std::ranges::count(stats.layout.reasons, reason), 1);
      }
      EXPECT_EQ(product.link_bytes, product.plan.link_bytes);
      EXPECT_EQ(product.plan.flops, 2.0 * static_cast<double>(rows * inner * columns));
      EXPECT_EQ(product.plan.rows, rows);
      EXPECT_EQ(product.plan.columns, columns);
      std::uint64_t bytes = 0;
      for (const DeviceShare& share : stats.devices) {
        EXPECT_GE(share.idle_seconds, 0);
        EXPECT_GT(share.busy_seconds, 0);
        bytes += share.bytes;
      }
      if (blocks != 1) {
        EXPECT_EQ(bytes, stats.outcome.bytes);
      }
      EXPECT_EQ(stats.outcome.remarks.empty(), blocks == count);
      const MatmulPlan plan = dry_run_matmul(team, a, b, {}, target());
      EXPECT_EQ(plan.bytes_read, product.plan.bytes_read);
      EXPECT_EQ(plan.row_blocks, product.plan.row_blocks);
    }
  }
}

TEST_F(SharedProduct, DividesTheMemory) {
  const Source a = matrix("a.f32", 300, 300), b = matrix("b.f32", 300, 2048);
  constexpr std::size_t limit = 6 * MiB;
  Coordinator team(cpus(3), {.threads = 2, .memory_bytes = limit});
  const auto [product, stats] = matmul(team, a, b, target());
  EXPECT_EQ(stats.devices.size(), 3u);
  EXPECT_TRUE(made() == expected(a, b));
  std::size_t peak = 0;
  for (Device* const device : team.devices()) {
    EXPECT_GT(device->host_memory().peak_bytes(), 0u);
    peak += device->host_memory().peak_bytes();
  }
  EXPECT_LE(peak, limit);
}

TEST_F(SharedProduct, ShowsProgressUpToTheEnd) {
  const Source a = matrix("a.f32", 300, 300), b = matrix("b.f32", 300, 2048);
  Coordinator team(cpus(2), limited());
  Progress last;
  PassOptions wanted;
  wanted.progress = [&](const Progress& progress) {
    EXPECT_LE(last.bytes, progress.bytes);
    last = progress;
  };
  matmul(team, a, b, target(), {}, wanted);
  EXPECT_EQ(last.total_bytes, a.bytes() + b.bytes());
  EXPECT_EQ(last.bytes, last.total_bytes);
}

TEST_F(SharedProduct, EventsOfDevicesHaveNumbersOfTheirOwn) {
  const Source a = matrix("a.f32", 300, 300), b = matrix("b.f32", 300, 2048);
  Coordinator team(cpus(2), limited());
  std::atomic<std::size_t> even{0}, odd{0};
  PassOptions wanted;
  wanted.observe = [&](const TraceEvent& event) {
    if (event.kind == TraceEvent::Kind::kernel) ++(event.worker % 2 == 0 ? even : odd);
  };
  matmul(team, a, b, target(), {}, wanted);
  EXPECT_GT(even, 0u);
  EXPECT_GT(odd, 0u);
}

TEST_F(SharedProduct, FailsIfOneDeviceDoes) {
  const Source a = matrix("a.f32", 48, 100), b = matrix("b.f32", 100, 1024);
  for (const auto what : {test::DeviceFault::call, test::DeviceFault::host_memory}) {
    for (const std::size_t failing : {0u, 2u}) {
      const std::size_t step = what == test::DeviceFault::call ? 23 : 1;
      const std::size_t calls = test::walk(test::Fault::Mode::once, step, [&](test::Fault& fault) {
        auto devices = cpus(3);
        devices[failing] = test::faulty_device(std::move(devices[failing]), what, fault);
        Coordinator team(std::move(devices), limited());
        try {
          matmul(team, a, b, target());
          EXPECT_FALSE(fault.has_struck());
          std::filesystem::remove(target().path);
        } catch (const Error& error) {
          EXPECT_TRUE(fault.has_struck()) << error.what();
        }
        EXPECT_TRUE(made_dir_.names().empty());
      });
      EXPECT_GT(calls, step);
    }
  }
}

TEST_F(SharedProduct, OfRanksIsThatOfOne) {
  for (const auto& [rows, inner, columns] : shared_shapes) {
    const Source a = matrix("a.f32", rows, inner), b = matrix("b.f32", inner, columns);
    const std::string one = expected(a, b);
    for (const std::size_t size : {1u, 2u, 4u, 5u}) {
      expect_none(LocalRanks(size, 2).run([&](Ranks& ranks) {
        // Some ranks have two devices.
        Coordinator coordinator(cpus(1 + ranks.rank() % 2), limited(&ranks));
        const auto [product, stats] = matmul(coordinator, a, b, target());
        EXPECT_TRUE(std::filesystem::exists(target().path));  // on each when matmul() returns
        EXPECT_EQ(product.bytes_written, rows * columns * sizeof(float));
        EXPECT_EQ(product.bytes_read, product.plan.bytes_read);
        EXPECT_EQ(stats.outcome.bytes_written, rows * columns * sizeof(float));
        EXPECT_EQ(product.library.empty(), false);
        EXPECT_EQ(stats.ranks.size(), size);
        std::uint64_t written = 0;
        for (const RankShare& share : stats.ranks) {
          written += share.bytes_written;
          EXPECT_EQ(share.device.empty(), share.bytes_written == 0);
          EXPECT_GE(share.idle_seconds, 0);
        }
        EXPECT_EQ(written, rows * columns * sizeof(float));
        const MatmulPlan plan = dry_run_matmul(coordinator, a, b);
        EXPECT_EQ(plan.bytes_read, product.plan.bytes_read);
        EXPECT_EQ(plan.flops, product.plan.flops);
      }));
      EXPECT_TRUE(made() == one) << rows << ' ' << columns << ' ' << size;
    }
  }
}

TEST_F(SharedProduct, FailsOnAllRanksIfOneDoes) {
  const Source a = matrix("a.f32", 600, 300), b = matrix("b.f32", 300, 2048);
  for (const std::size_t failing : {0u, 2u}) {
    test::Fault fault(20, test::Fault::Mode::once);
    const auto errors = LocalRanks(3).run([&](Ranks& ranks) {
      auto devices = cpus(1);
      if (ranks.rank() == failing) {
        devices[0] = test::faulty_device(std::move(devices[0]), test::DeviceFault::call, fault);
      }
      Coordinator coordinator(std::move(devices), limited(&ranks));
      matmul(coordinator, a, b, target());
    });
    for (const auto& error : errors) EXPECT_EQ(test::described(error).first, ErrorKind::device);
    EXPECT_TRUE(made_dir_.names().empty());
  }
}

TEST_F(SharedProduct, OfOtherMatricesOnAnotherRankIsRefused) {
  const Source a = matrix("a.f32", 30, 30), b = matrix("b.f32", 30, 1024);
  const Source other = matrix("other.f32", 30, 2048);
  const auto errors = LocalRanks(2).run([&](Ranks& ranks) {
    Coordinator coordinator(cpus(1), limited(&ranks));
    matmul(coordinator, a, ranks.is_first() ? b : other, target());
  });
  for (const auto& error : errors) {
    EXPECT_EQ(test::described(error).first, ErrorKind::input_changed);
    EXPECT_NE(test::described(error).second.find("other data than rank 0"), std::string::npos);
  }
}

// Its own blocks are done: it waits for the others.
TEST_F(SharedProduct, IsInterruptedWhileARankWaits) {
  const Source a = matrix("a.f32", 100, 90), b = matrix("b.f32", 90, 2048);
  std::atomic<bool> has_failed{false};
  const auto errors = LocalRanks(2).run([&](Ranks& ranks) {
    Coordinator coordinator(cpus(1), limited(&ranks));
    std::stop_source stop;
    PassOptions wanted{.stop = stop.get_token()};
    wanted.progress = [&](const Progress& progress) {
      if (ranks.is_first()) return;
      if (progress.bytes * 2 >= progress.total_bytes - 1) stop.request_stop();
    };
    wanted.observe = [&](const TraceEvent& event) {
      if (!ranks.is_first() || event.kind != TraceEvent::Kind::kernel) return;
      while (!has_failed) std::this_thread::yield();
    };
    try {
      matmul(coordinator, a, b, target(), {}, wanted);
    } catch (...) {
      has_failed = true;
      throw;
    }
  });
  for (const auto& error : errors) EXPECT_EQ(test::described(error).first, ErrorKind::interrupted);
  EXPECT_TRUE(made_dir_.names().empty());
}

/// GPUs of this machine, or one of them twice.
class SharedProductGpu : public SharedProduct {};

TEST_F(SharedProductGpu, IsThatOfOneAndLeavesOutTheCpu) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  const Source a = matrix("a.f32", 2000, 600), b = matrix("b.f32", 600, 2048);
  std::vector<std::unique_ptr<Device>> devices = all_devices();
  const std::size_t gpus = devices.size() - 1;
  if (gpus == 1) devices.insert(devices.begin(), make_device(DeviceKind::cuda, 0));
  Coordinator team(std::move(devices), {.device_bytes = 8 * MiB});
  const auto [product, stats] = matmul(team, a, b, target());
  EXPECT_EQ(product.plan.row_blocks * product.plan.column_blocks, std::max<std::size_t>(gpus, 2));
  EXPECT_EQ(stats.devices.size(), std::max<std::size_t>(gpus, 2));
  EXPECT_TRUE(std::ranges::any_of(stats.outcome.remarks, [](const std::string& remark) {
    return remark.starts_with("only GPUs multiply");
  }));
  EXPECT_TRUE(made() == expected(a, b));
}

}  // namespace
}  // namespace ooc::detail
