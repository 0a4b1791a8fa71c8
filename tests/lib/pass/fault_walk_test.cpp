// Makes each call of a pass fail, once and from then on: calls of its engines, of its device and of
// operator new, and starts of threads. Each time the pass must end, with the right answer or with
// an error.

#include <ooc/error.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "lib/pass/fault_walk_fixture.hpp"
#include "lib/pass/fault_walk_operators.hpp"
#include "support/counted_new.hpp"
#include "support/failing_threads.hpp"
#include "support/fault.hpp"
#include "support/faulty_device.hpp"
#include "support/faulty_engine.hpp"
#include "support/machines.hpp"
#include "support/page_cache.hpp"

namespace ooc::detail {
namespace {

using test::DeviceFault;
using test::EngineCall;
using test::Fault;
using test::FaultWalk;
using test::Machine;
using test::WeightedSumInOrder;
using test::WeightedSumOfPieces;
using test::WeightedSumOfStreams;

INSTANTIATE_TEST_SUITE_P(Machines, FaultWalk, test::all_machines, test::machine_name);

/// A fixture for faults in calls that a GPU's driver also makes, so it uses no real GPU.
class HostFaultWalk : public FaultWalk {};

INSTANTIATE_TEST_SUITE_P(Machines, HostFaultWalk, testing::Values(Machine::cpu, Machine::late),
                         test::machine_name);

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
      walk(name + "_in_a_filter", {broken.kind}, false,
           [&](Fault& fault) { return filter_is_right(device(), options_with(fault)); });
      walk(name + "_in_a_split", {broken.kind}, false,
           [&](Fault& fault) { return split_is_right(device(), options_with(fault)); });
      walk(name + "_in_a_scan", {broken.kind}, false,
           [&](Fault& fault) { return scan_is_right(device(), options_with(fault)); });
      if (writes) {
        walk(name + "_of_two_outputs", {broken.kind}, false,
             [&](Fault& fault) { return write_is_right(device(), options_with(fault)); });
        continue;
      }
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
      walk(name + "_in_chunks", {broken.kind}, false,
           [&](Fault& fault) { return chunks_are_right(device(), options_with(fault)); });
      walk(name + "_over_a_resident", {broken.kind}, false,
           [&](Fault& fault) { return resident_is_right(device(), options_with(fault)); });
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
    walk(kind.name + "_in_chunks", {kind.kind}, false,
         [&](Fault& fault) { return chunks_are_right(broken(fault), options()); });
    // Without memory to keep the source, each pass reads it.
    walk(kind.name + "_over_a_resident", {kind.kind}, true,
         [&](Fault& fault) { return resident_is_right(broken(fault), options()); });
    walk(kind.name + "_in_a_map", {kind.kind}, false,
         [&](Fault& fault) { return map_is_right(broken(fault), options()); });
    walk(kind.name + "_in_a_filter", {kind.kind}, false,
         [&](Fault& fault) { return filter_is_right(broken(fault), options()); });
    walk(kind.name + "_in_a_split", {kind.kind}, false,
         [&](Fault& fault) { return split_is_right(broken(fault), options()); });
    walk(kind.name + "_in_a_scan", {kind.kind}, false,
         [&](Fault& fault) { return scan_is_right(broken(fault), options()); });
    walk(kind.name + "_of_two_outputs", {kind.kind}, false,
         [&](Fault& fault) { return write_is_right(broken(fault), options()); });
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
    walk(name + "_in_a_filter", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingNew failing(fault);
      return filter_is_right(device(), wanted);
    });
    walk(name + "_of_two_inputs", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingNew failing(fault);
      return zip_is_right(device(), wanted);
    });
    walk(name + "_in_chunks", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingNew failing(fault);
      return chunks_are_right(device(), wanted);
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
    walk(config.name + "_in_chunks", {ErrorKind::memory}, true, [&](Fault& fault) {
      const test::FailingThreads failing(fault);
      return chunks_are_right(device(), wanted);
    });
  }
}

}  // namespace
}  // namespace ooc::detail
