#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/version.hpp>
#include <ooc/detail/observe/stats.hpp>
#include <ooc/detail/pass/operation.hpp>
#include <ooc/detail/pass/options.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pass/pass_options.hpp>
#include <ooc/device.hpp>
#include <ooc/source.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace ooc {

class Blocks;

/// Owns a device, its streams and the chunk pool, and runs passes over them. The pool stays between
/// passes and may grow there, never during one.
///
///     ooc::Coordinator coordinator(ooc::best_device(), {.memory_bytes = std::size_t{8} << 30});
///
/// It may own several devices, which share the data of each fold: whichever has nothing left to
/// read takes the next block, until there are no more. The result has the same bits as on one
/// device.
///
///     ooc::Coordinator coordinator(ooc::all_devices());
///
/// Several GPUs share the passes of all folds that are not merged in order; GPUs and the CPU, those
/// of operators that have `same_bits_everywhere`. Partials of all devices are merged on the host.
/// Other passes and jobs run on the first device, and a remark says why; matmul() uses all. Of the
/// options, those about memory on the host are for all devices together, others for each.
///
/// Threads: a coordinator runs one pass at a time, on whichever thread calls. A second one that is
/// begun meanwhile, on another thread or by a callback of the first, throws Error(usage); programs
/// that want two at once make two coordinators, which may read one Source.
///
/// Lifetime: a coordinator must outlive the Buffers that results of its passes hold.
class OOC_API Coordinator {
 public:
  /// The right to use a coordinator, for as long as it lives. It must die before the coordinator.
  class [[nodiscard]] Reservation {
   public:
    /// Throws Error(usage) if another has it.
    Reservation(std::atomic_flag& busy, Device& device);

    /// Binds the calling thread to the device, until unbind_thread() is called, or the reservation
    /// dies, on that thread: then CUDA uses the GPU there that it used before. Throws
    /// Error(device).
    void bind_thread();

    /// Does nothing if no thread is bound.
    void unbind_thread() noexcept { bound_.reset(); }

   private:
    struct Clear {
      void operator()(std::atomic_flag* busy) const noexcept { busy->clear(); }
    };
    struct BindBack {
      void* before;
      void operator()(Device* device) const noexcept;
    };
    std::unique_ptr<std::atomic_flag, Clear> busy_;
    Device* device_;
    std::unique_ptr<Device, BindBack> bound_;
  };

  /// `headers` is the version of the headers that the calling file was compiled with; leave it out.
  /// Throws Error(usage) if the library is of another version (major or minor).
  explicit Coordinator(std::unique_ptr<Device> device, Options options = {},
                       Version headers = {OOC_VERSION_MAJOR, OOC_VERSION_MINOR, OOC_VERSION_PATCH});

  /// The same with several devices, which share passes. Throws Error(usage) if there is none.
  explicit Coordinator(std::vector<std::unique_ptr<Device>> devices, Options options = {},
                       Version headers = {OOC_VERSION_MAJOR, OOC_VERSION_MINOR, OOC_VERSION_PATCH});
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Sends all records of the inputs through `operation`, and the results to `outputs`, which the
  /// caller publishes; a pass may have no inputs (see Operation::records()) or no outputs. Returns
  /// when all threads of the pass have ended, and rethrows the first error of any of them. Throws
  /// Error: `usage` if the coordinator runs a pass already, for a checksum unless there is one
  /// input, or without inputs and outputs; `bad_input` if the inputs have different numbers of
  /// records; `interrupted` if the pass was stopped (see PassOptions::keep_partial). An output that
  /// was stopped is incomplete, and is to be discarded.
  ///
  /// The caller keeps the reservation beyond the pass, until it has freed the memory of lanes that
  /// the operation holds. The calling thread is bound to the device until then.
  Stats run(Reservation& pass, std::span<const PassInput> inputs, Operation& operation,
            const PassOptions& wanted = {}, std::span<const Output> outputs = {});

  /// Runs the share that this process has of a pass: `blocks` gives out its records, of which
  /// OutcomeStats::covers are done. Throws Error as run() does, and `usage` for a pass that cannot
  /// be shared, but not `interrupted`.
  Stats run_share(Reservation& pass, std::span<const PassInput> inputs, Operation& operation,
                  const PassOptions& wanted, std::span<const Output> outputs, Blocks& blocks);

  /// The same as run() for one input, and an operation that holds no such memory.
  Stats run(const Source& source, RecordShape record, Operation& operation,
            const PassOptions& wanted = {}, std::span<const Output> outputs = {});

  /// Keeps other passes out until the reservation dies. Throws Error(usage) if the coordinator is
  /// busy.
  Reservation begin_pass();

  /// Reserves the first device and its memory for a job that is no pass, such as a check of a
  /// result. No pass can run until the reservation dies. The pool and the lanes' buffers of earlier
  /// passes are freed; the next pass allocates anew. Temporaries of operators stay. Throws
  /// Error(usage) if the coordinator is busy.
  Reservation reserve();

  /// The same for several devices, such as those of matmul(): options_of_each() says what each
  /// may use of the memory on the host.
  Reservation reserve(std::span<Device* const> devices);

  /// Returns the device, or the first of several, which lives as long as the coordinator.
  Device& device() noexcept;

  /// Returns all devices. They live as long as the coordinator.
  std::vector<Device*> devices() const;

  /// Returns Options::ranks.
  Ranks* ranks() const noexcept;

  /// Returns the options that were given. If less than 256 MiB of memory are available, they have a
  /// limit of memory, too.
  const Options& options() const noexcept;

  /// Returns the options of each of so many devices that work at once: with a part of that memory.
  Options options_of_each(std::size_t devices) const;

  /// The most streams that the next passes use on the first device. A loop over chunks (see Chunks)
  /// on a GPU may use twice as many, each with one buffer instead of two.
  std::size_t streams() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ooc
