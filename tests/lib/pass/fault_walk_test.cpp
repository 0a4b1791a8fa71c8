// Makes each call of a pass fail, once and from then on: calls of its engines, of its device and of
// operator new, and starts of threads. Each time the pass must end, with the right answer or with
// an error.

#include <ooc/fold.hpp>
#include <ooc/io/error.hpp>
#include <ooc/map.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lib/pass/fault_walk_operators.hpp"
#include "support/counted_new.hpp"
#include "support/effort.hpp"
#include "support/failing_threads.hpp"
#include "support/fault.hpp"
#include "support/faulty_device.hpp"
#include "support/faulty_engine.hpp"
#include "support/late_device.hpp"
#include "support/operators.hpp"
#include "support/page_cache.hpp"
#include "support/temp_dir.hpp"
#include "support/watchdog.hpp"

namespace ooc {
namespace {

using test::chunk_bytes;
using test::CompareTwice;
using test::Copy;
using test::DeviceFault;
using test::EngineCall;
using test::Fault;
using test::WeightedSum;
using test::WeightedSumInOrder;
using test::WeightedSumOfPieces;
using test::WeightedSumOfStreams;

constexpr std::size_t chunks = 9;

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

/// The device of a pass: the CPU, a LateDevice as a substitute for a GPU, or a real GPU.
enum class Machine { cpu, late, cuda };

class FaultWalk : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    if (GetParam() == Machine::cuda && !why_no_gpu().empty()) {
      GTEST_SKIP() << "no GPU: " << why_no_gpu();
    }
  }

  static std::unique_ptr<Device> device() {
    if (GetParam() == Machine::late) return std::make_unique<test::LateDevice>();
    return make_device(GetParam() == Machine::cpu ? DeviceKind::cpu : DeviceKind::cuda);
  }

  /// Makes a WrappedDevice count as not started.
  static std::unique_ptr<Device> stopped(std::unique_ptr<Device> device) {
    dynamic_cast<test::WrappedDevice&>(*device).stop();
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
    if (open(source_).files()[0].direct() >= 0) wanted.direct = DirectIo::yes;
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
    coordinator.run(coordinator.begin_pass(), inputs, compare);
    return compare.is_right();
  }

  /// Runs a map of the source and returns true. Throws its errors. walk() checks the file.
  bool map_is_right(std::unique_ptr<Device> device, const Options& options,
                    const PassOptions& wanted = {}) {
    Coordinator coordinator(std::move(device), options);
    map(coordinator, Copy{}, open(source_), {.path = target_, .type = {ElementType::u1}}, wanted);
    return true;
  }

  test::HeldInPageCache hold_source() const { return test::HeldInPageCache(source_); }

  // A map with as many streams has a larger pool. A pass whose pool holds all chunks does not read
  // ahead.
  static constexpr std::size_t fold_streams = 2, map_streams = 1;

  void expect_that_passes_read_ahead() const {
    if (reading_ahead(fold_streams).direct != DirectIo::yes) return;
    const auto coordinator = [this](std::size_t streams) {
      auto wrapped = std::make_unique<test::WrappedDevice>(device(), [](test::DeviceCall) {});
      return Coordinator(stopped(std::move(wrapped)), reading_ahead(streams));
    };
    Coordinator folding = coordinator(fold_streams), mapping = coordinator(map_streams);
    EXPECT_GT(fold(folding, WeightedSum{}, open(source_)).stats.layout.read_ahead_bytes, 0u);
    const Target target{.path = target_, .type = {ElementType::u1}};
    EXPECT_GT(map(mapping, Copy{}, open(source_), target).layout.read_ahead_bytes, 0u);
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
    // Under ThreadSanitizer every fifth call fails. AddressSanitizer looks for leaks after each.
    const std::size_t step = test::sanitizers == "thread" ? 5 : 1;
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
        EXPECT_TRUE(test::read_whole(target_) == test::read_whole(source_));
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

  test::TempDir dir_;
  std::vector<std::byte> bytes_ = test::random_bytes(chunks * chunk_bytes - 5, 1);
  std::filesystem::path source_ = dir_.write("source.u8", bytes_);
  std::filesystem::path target_ = dir_.path() / "target.u8";
  std::uint64_t sum_ =
      WeightedSum::sum_of({reinterpret_cast<const std::uint8_t*>(bytes_.data()), bytes_.size()}, 0);
  test::Watchdog watchdog_;
  std::uint64_t runs_ = 0;
};

std::string machine_name(const testing::TestParamInfo<Machine>& machine) {
  return machine.param == Machine::cpu ? "cpu" : machine.param == Machine::late ? "late" : "cuda";
}

INSTANTIATE_TEST_SUITE_P(Machines, FaultWalk,
                         testing::Values(Machine::cpu, Machine::late, Machine::cuda), machine_name);

/// A fixture for faults in calls that a GPU's driver also makes, so it uses no real GPU.
class HostFaultWalk : public FaultWalk {};

INSTANTIATE_TEST_SUITE_P(Machines, HostFaultWalk, testing::Values(Machine::cpu, Machine::late),
                         machine_name);

/// An error of an engine, and the call at which it comes. Errors of kind `output` are of a writer.
struct EngineFault {
  std::string name;
  EngineCall call;
  ErrorKind kind;
  int errno_value;
};

TEST_P(FaultWalk, OverEveryCallOfAnEngine) {
  const EngineFault faults[] = {{"read_error", EngineCall::answer, ErrorKind::input, EIO},
                                {"end_of_file", EngineCall::answer, ErrorKind::input_changed, 0},
                                {"start_refused", EngineCall::start, ErrorKind::input, EAGAIN},
                                {"engine_dies", EngineCall::wait, ErrorKind::input, EBADR},
                                {"disk_full", EngineCall::answer, ErrorKind::output, ENOSPC},
                                {"write_refused", EngineCall::start, ErrorKind::output, EAGAIN},
                                {"writer_dies", EngineCall::wait, ErrorKind::output, EBADR}};
  for (const EngineKind kind : {EngineKind::automatic, EngineKind::threads}) {
    for (const EngineFault& broken : faults) {
      const bool writes = broken.kind == ErrorKind::output;
      const auto options_with = [&](Fault& fault) {
        Options wanted = options();
        wanted.engine = kind;
        wanted.make_engine = [&](const EngineOptions& engine) -> std::unique_ptr<Engine> {
          if (engine.writes != writes) return make_engine(engine);
          return std::make_unique<test::FaultyEngine>(make_engine(engine), [&](EngineCall call) {
            if (call != broken.call || !fault.strikes()) return;
            throw Error::from_errno(broken.kind, "this", broken.errno_value, "x", 7);
          });
        };
        return wanted;
      };
      const std::string name = broken.name + (kind == EngineKind::threads ? "_with_threads" : "");
      walk(name + "_in_a_map", {broken.kind}, false,
           [&](Fault& fault) { return map_is_right(device(), options_with(fault)); });
      if (writes) continue;
      walk(name + "_in_a_fold", {broken.kind}, false,
           [&](Fault& fault) { return fold_is_right(device(), options_with(fault)); });
      walk(name + "_in_a_fold_in_order", {broken.kind}, false, [&](Fault& fault) {
        return fold_is_right<WeightedSumInOrder>(device(), options_with(fault));
      });
      walk(name + "_in_a_fold_of_pieces", {broken.kind}, false, [&](Fault& fault) {
        return fold_is_right<WeightedSumOfPieces>(device(), options_with(fault));
      });
      walk(name + "_of_two_inputs", {broken.kind}, false,
           [&](Fault& fault) { return zip_is_right(device(), options_with(fault)); });
    }
  }
}

TEST_P(FaultWalk, OverEveryCallOfTheDevice) {
  expect_that_passes_read_ahead();
  struct Kind {
    std::string name;
    DeviceFault fault;
    ErrorKind kind;
  };
  const bool has_own_memory = GetParam() != Machine::cpu;
  for (const Kind& kind : {Kind{"host_memory", DeviceFault::host_memory, ErrorKind::memory},
                           Kind{"device_memory", DeviceFault::device_memory, ErrorKind::memory},
                           Kind{"device_call", DeviceFault::call, ErrorKind::device},
                           Kind{"late_error", DeviceFault::late, ErrorKind::device}}) {
    if (kind.fault == DeviceFault::device_memory && !has_own_memory) continue;
    const auto broken = [&](Fault& fault) {
      return test::faulty_device(device(), kind.fault, fault);
    };
    walk(kind.name + "_in_a_fold", {kind.kind}, false,
         [&](Fault& fault) { return fold_is_right(broken(fault), options()); });
    walk(kind.name + "_in_a_fold_in_order", {kind.kind}, false,
         [&](Fault& fault) { return fold_is_right<WeightedSumInOrder>(broken(fault), options()); });
    walk(kind.name + "_in_a_fold_of_pieces", {kind.kind}, false, [&](Fault& fault) {
      return fold_is_right<WeightedSumOfPieces>(broken(fault), options());
    });
    walk(kind.name + "_of_two_inputs", {kind.kind}, false,
         [&](Fault& fault) { return zip_is_right(broken(fault), options()); });
    walk(kind.name + "_in_a_map", {kind.kind}, false,
         [&](Fault& fault) { return map_is_right(broken(fault), options()); });
    // A pass that cannot get memory to read ahead does without.
    const bool dispensable = kind.fault == DeviceFault::host_memory;
    walk(kind.name + "_reading_ahead_in_a_fold", {kind.kind}, dispensable, [&](Fault& fault) {
      return fold_is_right(stopped(broken(fault)), reading_ahead(fold_streams));
    });
    walk(kind.name + "_reading_ahead_in_a_map", {kind.kind}, dispensable, [&](Fault& fault) {
      return map_is_right(stopped(broken(fault)), reading_ahead(map_streams));
    });
  }
}

// Some allocations are dispensable, so the answer may be right although one failed.
TEST_P(HostFaultWalk, OverEveryCallOfOperatorNew) {
  for (const EngineKind kind : {EngineKind::automatic, EngineKind::threads}) {
    Options wanted = options();
    wanted.engine = kind;
    const std::string name = kind == EngineKind::threads ? "new_with_threads" : "new";
    walk(name + "_in_a_fold", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingNew failing(fault);
      return fold_is_right(device(), wanted);
    });
    walk(name + "_in_a_map", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingNew failing(fault);
      return map_is_right(device(), wanted);
    });
    walk(name + "_of_two_inputs", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingNew failing(fault);
      return zip_is_right(device(), wanted);
    });
  }
  if (GetParam() != Machine::cpu) return;
  const test::HeldInPageCache held = hold_source();  // so that lanes load their own chunks
  Options wanted = options();
  wanted.threads = 0;
  walk("new_of_lanes_that_load_in_a_fold", {ErrorKind::memory}, true, [&](Fault& fault) {
    const test::FailingNew failing(fault);
    return fold_is_right(device(), wanted);
  });
  walk("new_of_lanes_that_load_any_in_a_fold", {ErrorKind::memory}, true, [&](Fault& fault) {
    const test::FailingNew failing(fault);
    return fold_is_right<WeightedSumOfStreams>(device(), wanted);
  });
}

// Fewer threads may be enough, and lanes that load their own chunks need no others.
TEST_P(HostFaultWalk, OverEveryStartOfAThread) {
  struct Way {
    std::string name;
    EngineKind engine;
    std::size_t threads;  // 0: lanes load their own chunks, if they can
  };
  for (const Way& config :
       {Way{"thread", EngineKind::automatic, 4}, Way{"thread_of_an_engine", EngineKind::threads, 4},
        Way{"thread_of_a_lane", EngineKind::automatic, 0}}) {
    Options wanted = options();
    wanted.engine = config.engine;
    wanted.threads = config.threads;
    const PassOptions hashed{.checksum = true};
    walk(config.name + "_in_a_fold", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingThreads failing(fault);
      return fold_is_right(device(), wanted, hashed);
    });
    walk(config.name + "_in_a_map", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingThreads failing(fault);
      return map_is_right(device(), wanted, hashed);
    });
  }
}

}  // namespace
}  // namespace ooc
