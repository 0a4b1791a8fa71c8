#pragma once

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/error.hpp>
#include <ooc/ranks.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ooc::detail {

/// The kinds of messages between ranks.
enum class Word : std::uint8_t {
  alive,    // from time to time, to rank 0 and back; with the progress of the sender
  hello,    // to rank 0: the host of the sender, and the GPUs that it sees
  place,    // from rank 0: the rank's place on its host
  begin,    // to rank 0: a job begins, with what it is about
  start,    // from rank 0: the same, when all have begun
  step,     // to rank 0: the records of a step of the sender
  unit,     // from rank 0: the records of a block
  ask,      // to rank 0: for records
  give,     // from rank 0: records
  no_more,  // from rank 0: there are none
  stop,     // the job ends early
  part,     // what was found, up the tree
  total,    // what all have found, down the tree
  failure,  // the error of a rank
  leave,    // the last word
};

/// A message between ranks. Its job is counted from 1 on, by each rank.
struct Letter {
  std::size_t from = 0;
  Word word{};
  std::uint64_t job = 0;
  std::vector<std::byte> bytes{};
};

/// The talk of a rank with others: sorts messages, says that the rank is alive, and notices that
/// another one is not. Used by one thread.
class Conversation {
 public:
  explicit Conversation(std::unique_ptr<Communicator> communicator);
  /// Closes the communicator if all ranks have left.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  std::size_t rank() const noexcept { return rank_; }
  std::size_t size() const noexcept { return size_; }
  const std::string& host() const noexcept { return hosts_[rank_]; }
  std::size_t rank_on_gpus() const noexcept { return place_.rank_on_gpus; }
  std::size_t ranks_on_gpus() const noexcept { return place_.ranks_on_gpus; }
  std::size_t ranks_on_host() const noexcept { return place_.ranks_on_host; }
  /// Returns, for example, "rank 3 on node7". Rank 0 knows all hosts, others their own only.
  std::string name_of(std::size_t rank) const;

  void set_timeout(double seconds) noexcept { timeout_ = seconds; }

  /// Begins the next job. What was said in earlier ones is forgotten.
  void begin_job();

  /// Counts silence from now on.
  void restart_timeout() noexcept;

  /// Sends a word of the job that runs.
  void say(std::size_t to, Word word, std::vector<std::byte> bytes = {});
  void say_to_others(Word word, const std::vector<std::byte>& bytes = {});

  /// Takes what has arrived, and says that this rank is alive if it is time. Throws Error if a rank
  /// has failed, and Error(stalled) if one is silent for too long.
  void attend();

  /// Returns the first word of that kind that has arrived, or nothing.
  std::optional<Letter> take(Word word);
  std::optional<Letter> take(Word word, std::size_t from);

  /// Waits for a word of that kind from a rank. Calls attend() and `meanwhile` while it waits.
  Letter await(Word word, std::size_t from, const std::function<void()>& meanwhile = {});

  /// Sleeps until others may have said something.
  static void nap();

  /// Sets the bytes of the job that are done here, and those in all.
  void set_progress(std::uint64_t bytes) noexcept { progress_[rank_] = bytes; }
  /// Returns the sum of what all ranks have said; on other ranks than 0, of this one only.
  std::uint64_t progress() const noexcept;

  /// See Ranks.
  void fail(const Error& error) noexcept;
  std::optional<std::size_t> leave();
  std::optional<std::size_t> failed() const noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  struct Failure {
    std::size_t origin;
    Error error;
  };

  /// Where a rank is among others. See Ranks.
  struct Place {
    std::uint64_t rank_on_gpus = 0, ranks_on_gpus = 1, ranks_on_host = 1;
  };

  void meet();
  void tell_places(const std::vector<std::string>& gpus);
  template <class Take>
  auto read(std::size_t from, std::span<const std::byte> bytes, const Take& take) const
      -> decltype(take(std::declval<ByteReader&>()));
  void listen();
  void go_on();
  void require_present(std::size_t rank) const;
  void take_failure(const Letter& letter);
  void say_alive();
  void require_others();
  Error silent(std::size_t rank) const;
  bool watches(std::size_t rank) const { return rank != rank_ && (rank_ == 0 || rank == 0); }

  std::unique_ptr<Communicator> communicator_;
  std::size_t rank_, size_;
  std::vector<std::string> hosts_;  // empty ones are not known
  Place place_{};
  double timeout_ = 60;  // seconds
  std::uint64_t job_ = 0;
  std::deque<Letter> letters_{};  // that have arrived and were not taken
  std::vector<Clock::time_point> heard_;
  std::vector<std::uint64_t> progress_;
  Clock::time_point said_alive_{}, listened_ = Clock::now();
  bool has_left_ = false;
  std::vector<bool> left_;  // the other ranks that have
  std::optional<Failure> failure_{};
};

}  // namespace ooc::detail
