#pragma once

#include <ooc/coordinator.hpp>
#include <ooc/detail/base/api.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ooc {

template <std::size_t count>
class Zipped;

class Resident;

namespace detail {

class ResidentMemory;
OOC_API std::shared_ptr<ResidentMemory> memory_of(const Resident& kept) noexcept;
}  // namespace detail

/// Options of data that stay on the device.
struct ResidentOptions {
  /// Maximum of device memory (bytes). 0: on a GPU, the memory that is free when the first pass
  /// begins, less the needs of that pass and a tenth; on the CPU none, since the page cache has the
  /// same effect. If CudaDeviceOptions::device_memory is set, set this to the part of it that may
  /// be taken. On the CPU, this memory is in addition to Options::memory_bytes.
  std::uint64_t device_bytes = 0;
};

/// A source, or several zipped ones, that is read several times and of which as much as fits stays
/// on the device between passes. Give it to every pass in place of the source: the first pass reads
/// the source and keeps its first part in device memory; later passes read only the rest, while
/// they work on that part. Results have the same bits as without it.
///
///     const ooc::Source points = ooc::open("points.npy");
///     const ooc::Resident kept(coordinator, points);
///     for (int step = 0; step < 20; ++step) centres = means(ooc::fold(coordinator, ..., kept));
///
/// The first pass that reads the whole source fills the memory. A pass with neighbours does not
/// (see FoldOperator), nor do Chunks with several shards. A pass with a checksum reads all data
/// from the files. If there is no room later for the buffers of a pass over it, the memory is
/// freed, and OutcomeStats::remarks says so. Other work on the GPU has at least a tenth of the
/// memory that was free; set `device_bytes` if it needs more. A file that changes between two
/// passes is noticed as in any pass, but the data on the device stay the same.
///
/// Threads: used by one pass at a time, of the coordinator that it was made for.
///
/// Lifetime: the sources and the coordinator must outlive it.
class OOC_API Resident {
 public:
  /// Takes no memory before the first pass. Throws Error(usage) for a source that can be read once
  /// only.
  Resident(Coordinator& coordinator, const Source& source, ResidentOptions options = {})
      : Resident(coordinator, std::vector<const Source*>{&source}, options) {}
  /// Keeps sources that are read side by side, with the same records of each.
  template <std::size_t count>
  Resident(Coordinator& coordinator, const Zipped<count>& sources, ResidentOptions options = {})
      : Resident(coordinator, all_of(sources), options) {}
  Resident(Coordinator&, Source&&,
           ResidentOptions = {}) = delete;  // it would end before the passes
  ~Resident();
  Resident(Resident&&) noexcept;             ///< Takes the memory over.
  Resident& operator=(Resident&&) noexcept;  ///< Frees the memory, and takes the other one over.

  /// Returns one of the sources that it was made for, and their number.
  const Source& source(std::size_t index = 0) const noexcept;
  std::size_t sources() const noexcept;  ///< one, or as many as were zipped

  /// Size of the part of the sources that is on the device (bytes); 0 before the first pass.
  std::uint64_t resident_bytes() const noexcept;

  /// Returns the owner of the memory in which an address lies, such as that of the rows of a Lease;
  /// null if it is not memory that stays on the device. While the owner lives, the memory is not
  /// freed, and what passes have put there does not change. The coordinator must outlive it.
  std::shared_ptr<const void> owner_of(const void* address) const noexcept;

 private:
  friend OOC_API std::shared_ptr<detail::ResidentMemory> detail::memory_of(
      const Resident& kept) noexcept;

  Resident(Coordinator& coordinator, const std::vector<const Source*>& sources,
           ResidentOptions options);

  template <std::size_t count>
  static std::vector<const Source*> all_of(const Zipped<count>& zipped) {
    std::vector<const Source*> sources;
    for (std::size_t i = 0; i < count; ++i) sources.push_back(&zipped[i]);
    return sources;
  }

  std::shared_ptr<detail::ResidentMemory> memory_;
};

}  // namespace ooc
