#pragma once

#include <ooc/chunks.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/pass/run_pass.hpp>
#include <ooc/error.hpp>
#include <ooc/filter.hpp>
#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/resident.hpp>
#include <ooc/scan.hpp>
#include <ooc/split.hpp>
#include <ooc/write.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "lib/pass/fault_walk_operators.hpp"
#include "support/effort.hpp"
#include "support/fault.hpp"
#include "support/faulty_device.hpp"
#include "support/machines.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"
#include "support/watchdog.hpp"

namespace ooc::detail::test {

inline constexpr std::size_t chunks_walked = 9;

inline std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

/// Passes of all kinds over a small file, and a walk over the calls that can fail in them.
class FaultWalk : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override { OOC_SKIP_WITHOUT_MACHINE(GetParam()); }

  static std::unique_ptr<Device> device() { return make_device(GetParam()); }

  /// Makes a WrappedDevice count as not started.
  static std::unique_ptr<Device> stopped(std::unique_ptr<Device> device) {
    dynamic_cast<WrappedDevice&>(*device).stop();
    return device;
  }

  static Options options() {
    return {.chunk_bytes = chunk_bytes, .streams = 2, .threads = 4, .block_bytes = chunk_bytes / 2};
  }

  /// Returns options of a pass with fewer slots than chunks, and with direct reads if possible.
  Options reading_ahead(std::size_t streams) const {
    Options wanted = options();
    wanted.streams = streams;
    wanted.queue_depth = 2;
    if (files_of(open(source_))[0].direct() >= 0) wanted.direct = DirectIo::yes;
    return wanted;
  }

  /// True if a fold of the source gives the right answer. Throws the errors of the fold.
  template <class Sum = WeightedSum>
  bool fold_is_right(std::unique_ptr<Device> device, const Options& options,
                     const PassOptions& wanted = {}) {
    Coordinator coordinator(std::move(device), options);
    return fold(coordinator, Sum{}, open(source_), wanted).value.sum == sum_;
  }

  /// True if a pass over the source, zipped with itself, sees the right bytes. Throws its errors.
  bool zip_is_right(std::unique_ptr<Device> device, const Options& options) {
    Coordinator coordinator(std::move(device), options);
    const Source first = open(source_), second = open(source_);
    const PassInput inputs[] = {{first, 1}, {second, 1}};
    CompareTwice compare(bytes_, coordinator.streams());
    Reservation pass = begin_pass(coordinator);
    run_pass(coordinator, pass, inputs, compare);
    return compare.is_right();
  }

  /// Runs a map of the source and returns true. Throws its errors. walk() checks the file.
  bool map_is_right(std::unique_ptr<Device> device, const Options& options,
                    const PassOptions& wanted = {}) {
    Coordinator coordinator(std::move(device), options);
    map(coordinator, Copy{}, open(source_), {.path = target_, .type = {ElementType::u1}}, wanted);
    return true;
  }

  /// The same for passes whose output has no known length, or an order, or no source.
  bool filter_is_right(std::unique_ptr<Device> device, const Options& options) {
    HostMemory home;
    Coordinator coordinator(std::move(device), options);
    const Target target{.path = target_, .type = {ElementType::u1}};
    return filter(coordinator, KeepAll{home}, open(source_), target).value.kept == bytes_.size();
  }
  bool split_is_right(std::unique_ptr<Device> device, const Options& options) {
    Coordinator coordinator(std::move(device), options);
    const std::filesystem::path second = dir_.path() / "nothing.u8";
    const std::array targets{Target{.path = target_}, Target{.path = second}};
    const auto counts = split(coordinator, ToTheFirst{}, open(source_), targets).value;
    std::filesystem::remove(second);
    return counts == std::vector<std::uint64_t>{bytes_.size(), 0};
  }
  bool scan_is_right(std::unique_ptr<Device> device, const Options& options) {
    HostMemory home;
    Coordinator coordinator(std::move(device), options);
    scan(coordinator, CountingScan{home}, open(source_),
         {.path = target_, .type = {ElementType::u1}});
    return true;
  }
  bool write_is_right(std::unique_ptr<Device> device, const Options& options) {
    HostMemory home;
    Coordinator coordinator(std::move(device), options);
    const std::filesystem::path second = dir_.path() / "twice.u16";
    const std::array targets{Target{.path = target_, .type = {ElementType::u1}},
                             Target{.path = second, .type = {ElementType::u2}}};
    write(coordinator, Repeat{bytes_, home}, targets, bytes_.size());
    const std::string twice = read_whole(second);
    std::filesystem::remove(second);
    for (std::size_t i = 0; i < twice.size(); ++i) {
      if (twice[i] != static_cast<char>(bytes_[i / 2])) return false;
    }
    return twice.size() == 2 * bytes_.size();
  }

  /// True if a loop over chunks sees the right bytes. Throws its errors, and those of its own
  /// calls.
  bool chunks_are_right(std::unique_ptr<Device> device, const Options& options) {
    std::vector<std::byte> seen(bytes_.size());
    const Source source = open(source_);
    Coordinator coordinator(std::move(device), options);
    coordinator.device().bind_to_thread();
    const auto stream = coordinator.device().make_stream();
    try {
      Chunks chunks(coordinator, source, {.rows = chunk_bytes, .shuffle_seed = 1});
      while (const auto chunk = chunks.next(*stream)) {
        stream->copy(seen.data() + chunk->first(), chunk->bytes().data, chunk->count());
      }
      stream->synchronize();
    } catch (...) {
      stream->drain();
      throw;
    }
    return seen == bytes_;
  }

  /// True if passes over a source of which half stays on the device give the right answers. Throws
  /// their errors.
  bool resident_is_right(std::unique_ptr<Device> device, const Options& options) {
    Coordinator coordinator(std::move(device), options);
    const Source source = open(source_);
    const Resident kept(coordinator, source, {.device_bytes = bytes_.size() / 2});
    for (int pass = 0; pass < 2; ++pass) {
      if (fold(coordinator, WeightedSum{}, kept).value.sum != sum_) return false;
    }
    map(coordinator, Copy{}, kept, {.path = target_, .type = {ElementType::u1}});
    return true;
  }

  HeldInPageCache hold_source() const { return HeldInPageCache(source_); }

  // A map with as many streams has a larger pool. A pass whose pool holds all chunks does not read
  // ahead.
  static constexpr std::size_t fold_streams = 2, map_streams = 1;

  void expect_that_passes_read_ahead() const {
    if (reading_ahead(fold_streams).direct != DirectIo::yes) return;
    const auto coordinator = [this](std::size_t streams) {
      auto wrapped = std::make_unique<WrappedDevice>(device(), [](DeviceCall) {});
      return Coordinator(stopped(std::move(wrapped)), reading_ahead(streams));
    };
    Coordinator folding = coordinator(fold_streams), mapping = coordinator(map_streams);
    EXPECT_GT(fold(folding, WeightedSum{}, open(source_)).stats.layout.read_ahead_bytes, 0u);
    const Target target{.path = target_, .type = {ElementType::u1}};
    EXPECT_GT(map(mapping, Copy{}, open(source_), target).stats.layout.read_ahead_bytes, 0u);
    std::filesystem::remove(target_);
  }

  /// Runs `pass` with a fault at each call. Expects each run to give the right answer or to throw
  /// an error of `causes`, and to leave neither a file nor a thread. A run may succeed despite a
  /// fault only if the call is `dispensable`.
  void walk(const std::string& name, const std::vector<ErrorKind>& causes, bool dispensable,
            const std::function<bool(Fault&)>& pass) {
    Fault none(std::numeric_limits<std::size_t>::max(), Fault::Mode::once);
    expect_right_or_error({}, false, pass, none);
    const std::size_t threads = threads_of_this_process();  // threads of a driver stay
    const std::size_t step = walk_step(20);
    for (const Fault::Mode mode : {Fault::Mode::once, Fault::Mode::from_then_on}) {
      const std::size_t points = test::walk(mode, step, [&](Fault& fault) {
        SCOPED_TRACE(name + ", run " + std::to_string(++runs_));
        watchdog_.begin(runs_);
        expect_right_or_error(causes, dispensable, pass, fault);
        while (threads_of_this_process() > threads) std::this_thread::yield();
      });
      EXPECT_GT(points, 0u) << name;
      RecordProperty(name + (mode == Fault::Mode::once ? "_once" : "_from_then_on"),
                     static_cast<int>(points));
    }
  }

 private:
  void expect_right_or_error(const std::vector<ErrorKind>& causes, bool dispensable,
                             const std::function<bool(Fault&)>& pass, Fault& fault) {
    try {
      EXPECT_TRUE(pass(fault)) << "a wrong answer";
      EXPECT_TRUE(dispensable || !fault.has_struck()) << "the fault went unnoticed";
      if (std::filesystem::exists(target_)) {
        EXPECT_TRUE(read_whole(target_) == read_whole(source_));
        std::filesystem::remove(target_);
      }
    } catch (const Error& error) {
      EXPECT_NE(std::ranges::find(causes, error.kind()), causes.end()) << error.what();
      EXPECT_TRUE(fault.has_struck()) << error.what();
    } catch (const std::bad_alloc&) {
      EXPECT_NE(std::ranges::find(causes, ErrorKind::memory), causes.end());
      EXPECT_TRUE(fault.has_struck());
    }
    EXPECT_EQ(dir_.names(), std::vector<std::string>{"source.u8"});
  }

  TempDir dir_;
  std::vector<std::byte> bytes_ = random_bytes(chunks_walked * chunk_bytes - 5, 1);
  std::filesystem::path source_ = dir_.write("source.u8", bytes_);
  std::filesystem::path target_ = dir_.path() / "target.u8";
  std::uint64_t sum_ =
      WeightedSum::sum_of({reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()}, 0);
  Watchdog watchdog_;
  std::uint64_t runs_ = 0;
};

}  // namespace ooc::detail::test
