#pragma once

#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/detail/transfer/producer_reader.hpp>
#include <ooc/detail/transfer/reader.hpp>
#include <ooc/detail/transfer/writer.hpp>

#include <functional>
#include <memory>
#include <span>

#include "pass/lane.hpp"
#include "pass/pass_parts.hpp"

namespace ooc::detail {

/// One attempt at a pass: its threads, from the first read to the last write. Another attempt, for
/// example with smaller buffers, is another object.
class Pass {
 public:
  /// `reader`: null if a producer or the lanes load the steps; `producer`: null unless it loads
  /// them. `writer`: null without an output. All references must outlive the pass.
  Pass(const PassParts& parts, std::span<const std::unique_ptr<Lane>> lanes, Reader* reader,
       ProducerReader* producer, Writer* writer)
      : parts_(parts), lanes_(lanes), reader_(reader), producer_(producer), writer_(writer) {}

  /// Starts reading, calls `prepare`, which allocates for all lanes and prepares the operation, and
  /// then starts the lanes. A producer is started after `prepare`, since what it has made is gone
  /// if that fails. If `prepare` throws, nothing has been computed. Otherwise calls `report` ten
  /// times a second until all threads have ended, and once more then. Both are called on the
  /// calling thread. Rethrows the first error of any thread.
  void run(const std::function<void()>& prepare, const std::function<void()>& report);

 private:
  const PassParts& parts_;
  std::span<const std::unique_ptr<Lane>> lanes_;
  Reader* reader_;
  ProducerReader* producer_;
  Writer* writer_;
};

}  // namespace ooc::detail
