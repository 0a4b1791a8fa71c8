#include "machine.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <ooc/error.hpp>
#include <string>
#include <utility>

#include "watched.hpp"

namespace ooc_python {
namespace {

/// Number of processors that this thread may use, by which the library chooses numbers of threads.
int processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

/// The coordinators that no call uses.
class IdleCoordinators {
 public:
  static IdleCoordinators& all() {
    static auto* const idle = new IdleCoordinators;  // a thread may outlive the destructors of main
    return *idle;
  }

  std::unique_ptr<ooc::Coordinator> take(const Machine& machine) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(idle_, [&](const Idle& each) {
      return each.machine == machine && each.processors == processors();
    });
    if (found == idle_.end()) return nullptr;
    std::unique_ptr<ooc::Coordinator> coordinator = std::move(found->coordinator);
    idle_.erase(found);
    return coordinator;
  }

  /// Keeps a coordinator, or destroys it.
  void give_back(const Machine& machine, std::unique_ptr<ooc::Coordinator> coordinator) {
    std::size_t bytes = 0;
    for (ooc::Device* device : coordinator->devices()) {
      bytes += device->host_memory().bytes_in_use() + device->device_memory().bytes_in_use();
    }
    std::unique_ptr<ooc::Coordinator> oldest;  // destroyed without the lock
    const std::scoped_lock lock(mutex_);
    if (bytes > most_bytes) {
      oldest = std::move(coordinator);
      return;
    }
    idle_.push_back({machine, processors(), std::move(coordinator)});
    if (idle_.size() <= most) return;
    oldest = std::move(idle_.front().coordinator);
    idle_.erase(idle_.begin());
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  /// Forgets all in a child of fork(), since their rings of io_uring are the parent's. Unlocks.
  void forget() {
    for (Idle& each : idle_) static_cast<void>(each.coordinator.release());
    idle_.clear();
    unlock();
  }

 private:
  static constexpr std::size_t most = 4, most_bytes = std::size_t{256} << 20;

  struct Idle {
    Machine machine;
    int processors;
    std::unique_ptr<ooc::Coordinator> coordinator;
  };

  std::mutex mutex_;
  std::vector<Idle> idle_;
};

std::atomic<bool> has_used_gpu = false, is_child_of_gpu_user = false;
std::atomic<int> forks = 0;  // from the first process with this module to this one

std::unique_ptr<ooc::Coordinator> make_coordinator(const Machine& machine) {
  const bool is_cpu_only = machine.devices == std::vector{-1};
  if (is_child_of_gpu_user && !is_cpu_only) {
    throw ooc::Error(ooc::ErrorKind::device, "a GPU cannot be used after fork()",
                     {.why = "the parent of this process has used one",
                      .hint = "multiprocessing.get_context(\"spawn\"), or device=\"cpu\""});
  }
  std::vector<std::unique_ptr<ooc::Device>> devices;
  for (const int index : machine.devices) {
    devices.push_back(index < 0 ? ooc::make_device(ooc::DeviceKind::cpu)
                                : ooc::make_device(ooc::DeviceKind::cuda, index));
  }
  if (devices.empty()) devices.push_back(ooc::best_device());
  for (const auto& device : devices) {
    if (device->kind() == ooc::DeviceKind::cuda) has_used_gpu = true;
  }
  return std::make_unique<ooc::Coordinator>(std::move(devices),
                                            ooc::Options{.streams = machine.streams,
                                                         .threads = machine.threads,
                                                         .memory_bytes = machine.memory,
                                                         .device_bytes = machine.vram});
}

}  // namespace

std::shared_ptr<ooc::Coordinator> Machine::coordinator() const {
  std::unique_ptr<ooc::Coordinator> made = IdleCoordinators::all().take(*this);
  if (!made) made = make_coordinator(*this);
  return {made.release(), [machine = *this, process = Process()](ooc::Coordinator* used) {
            if (!process.is_this()) return;
            IdleCoordinators::all().give_back(machine, std::unique_ptr<ooc::Coordinator>(used));
          }};
}

void watch_forks() {
  pthread_atfork([] { IdleCoordinators::all().lock(); }, [] { IdleCoordinators::all().unlock(); },
                 [] {
                   IdleCoordinators::all().forget();
                   Calls::forget();
                   is_child_of_gpu_user = has_used_gpu.load();
                   ++forks;
                 });
}

Process::Process() : forks_(forks) {}

bool Process::is_this() const {
  return forks_ == forks;
}

void Process::require_this(std::string_view what) const {
  if (is_this()) return;
  throw ooc::Error(ooc::ErrorKind::usage,
                   std::string(what) + " belongs to the parent of this process",
                   {.why = "its threads are not copied by fork()", .hint = "make another one"});
}

}  // namespace ooc_python
