#pragma once

#include <ooc/detail/base/api.hpp>
#include <ooc/detail/base/language.hpp>
#include <ooc/error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ooc {

class Ranks;

namespace detail {
class Conversation;
OOC_API Conversation& conversation_of(Ranks& ranks) noexcept;
}  // namespace detail

/// A message from another rank.
struct RankMessage {
  std::size_t from = 0;            ///< the rank that has sent it
  std::vector<std::byte> bytes{};  ///< as they were sent
};

/// The way in which the processes of a job send each other bytes. ooc::mpi has one for MPI.
///
/// Threads: used by one thread at a time, which calls the functions of a Ranks.
class OOC_API Communicator {
 public:
  virtual ~Communicator();

  virtual std::size_t rank() const noexcept = 0;  ///< the number of this process, from 0 on
  virtual std::size_t size() const noexcept = 0;  ///< the number of all processes

  /// Returns the name of this machine.
  virtual std::string host() const = 0;

  /// Sends a message and returns at once. Those from one rank to another arrive in their order.
  /// Throws Error(device) if the network has failed.
  virtual void send(std::size_t to, std::vector<std::byte> bytes) = 0;

  /// Returns the next message from any rank; nothing if none has arrived. Also advances messages
  /// that are being sent. Throws Error(device) if the network has failed.
  virtual std::optional<RankMessage> receive() = 0;

  /// Called at the end if all ranks have left. Returns when all sent messages have arrived.
  virtual void close() {}
};

/// The processes that work on one job: each runs the same program, and makes the same calls in the
/// same order. A fold of a coordinator that has them (see Options::ranks) is shared among all:
/// rank 0 gives out the data in blocks, and each rank gets the result, with the same bits as from
/// one process. Of a matrix product, each rank computes a part. All ranks read the same files.
///
///     ooc::Coordinator coordinator(ooc::best_device(), {.ranks = &ranks});
///     const auto [sum, stats] = ooc::fold(coordinator, Sum{}, ooc::open("prices.f32"));
///     if (ranks.is_first()) std::cout << sum << std::endl;
///
/// If one fails, the fold throws on all of them, and so does each call after that. While ranks wait
/// for one another, they notice if one falls silent: see set_timeout().
///
/// Threads: used by the thread that calls the coordinator; so is the communicator.
class OOC_API Ranks {
 public:
  /// Waits for the other ranks. Throws Error(stalled) if they do not come within the timeout.
  explicit Ranks(std::unique_ptr<Communicator> communicator);
  /// Calls leave(), unless an exception is unwinding the stack.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  std::size_t rank() const noexcept;  ///< the number of this process, from 0 on
  std::size_t size() const noexcept;  ///< the number of all processes
  /// True on rank 0.
  bool is_first() const noexcept { return rank() == 0; }

  /// Returns the number of this process among those of its machine that see the same GPUs, from 0
  /// on: it may take the GPU of that number.
  std::size_t rank_on_gpus() const noexcept;
  /// Returns the number of processes of its machine that see the same GPUs.
  std::size_t ranks_on_gpus() const noexcept;
  /// Returns the number of all processes of its machine.
  std::size_t ranks_on_host() const noexcept;

  /// Returns, for example, "rank 3 on node7".
  std::string name() const;

  /// Sets the time after which a rank that waits without a message throws Error(stalled) (seconds).
  /// The default is 60.
  void set_timeout(double seconds) noexcept;

  /// Tells the others that this one is alive. A program calls it during work of a rank that lasts
  /// longer than the timeout while others wait. Throws Error if another rank has failed.
  void attend();

  /// Makes all other ranks fail with this error, as an error of this rank. Call it for an error
  /// outside of passes. Does nothing if a rank has failed already.
  void fail(const Error& error) noexcept;

  /// Returns the rank of the first failure that this one heard of; nothing if none has failed.
  std::optional<std::size_t> failed() const noexcept;

  /// Waits until all ranks have called it; then no more passes can be run. After a failure it waits
  /// for some seconds only. Returns the rank whose failure was the first for rank 0; nothing if
  /// none has failed. Throws Error(stalled).
  std::optional<std::size_t> leave();

 private:
  friend OOC_API detail::Conversation& detail::conversation_of(Ranks& ranks) noexcept;

  std::unique_ptr<detail::Conversation> conversation_;
  int exceptions_;  // std::uncaught_exceptions() when it was constructed
};

}  // namespace ooc
