#include "ranks/conversation.hpp"

#include <ooc/detail/base/byte_reader.hpp>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <utility>

namespace ooc::detail {

namespace {

// Longer than a message takes, and short beside the time that a block takes.
constexpr std::chrono::microseconds nap_time{250};
constexpr std::chrono::milliseconds between_signs{200};
// Time for all ranks to hear of a failure.
constexpr double patience_after_failure = 5;  // seconds

/// Returns a text that is equal for ranks of one host if they see the same GPUs. A launcher may
/// give each rank a GPU of its own; Slurm then numbers it 0 on each rank.
std::string seen_gpus(std::size_t rank) {
  for (const char* const name : {"SLURM_GPUS_PER_TASK", "SLURM_TRES_PER_TASK"}) {
    if (std::getenv(name) != nullptr) return "those of rank " + std::to_string(rank);
  }
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "all" : visible;
}

std::vector<std::byte> packed(const Error& error, std::size_t origin, const std::string& name) {
  std::vector<std::byte> bytes;
  append_bytes(bytes, std::uint64_t{origin});
  append_bytes(bytes, static_cast<std::uint8_t>(error.kind()));
  // A silent rank is named already.
  const bool is_named = error.kind() == ErrorKind::stalled;
  append_text(bytes, (is_named ? "" : name + ": ") + error.what());
  append_text(bytes, error.details().why);
  append_text(bytes, error.details().hint);
  return bytes;
}

/// Reads a value of an enumeration of which `last` is the last one.
template <class Enum>
Enum take_one_of(ByteReader& in, Enum last, const std::string& name) {
  const auto value = in.take<std::uint8_t>();
  if (value <= static_cast<std::uint8_t>(last)) return static_cast<Enum>(value);
  throw Error(ErrorKind::usage, "there is no " + name + " of number " + std::to_string(value));
}

}  // namespace

Conversation::Conversation(std::unique_ptr<Communicator> communicator)
    : communicator_(std::move(communicator)),
      rank_(communicator_->rank()),
      size_(communicator_->size()),
      hosts_(size_),
      heard_(size_, Clock::now()),
      progress_(size_),
      left_(size_) {
  hosts_[rank_] = communicator_->host();
  meet();
}

/// Tells each rank its place on its host.
void Conversation::meet() {
  if (rank_ != 0) {
    std::vector<std::byte> bytes;
    append_text(bytes, hosts_[rank_]);
    append_text(bytes, seen_gpus(rank_));
    say(0, Word::hello, std::move(bytes));
    const Letter letter = await(Word::place, 0);
    place_ = read(0, letter.bytes, [](ByteReader& in) { return in.take<Place>(); });
    return;
  }
  std::vector<std::string> gpus(size_);
  gpus.front() = seen_gpus(0);
  for (std::size_t rank = 1; rank < size_; ++rank) {
    const Letter letter = await(Word::hello, rank);
    read(rank, letter.bytes, [&](ByteReader& in) {
      hosts_[rank] = take_text(in);
      gpus[rank] = take_text(in);
    });
  }
  tell_places(gpus);
}

/// Tells each rank its place. `gpus`: the result of seen_gpus() on each rank.
void Conversation::tell_places(const std::vector<std::string>& gpus) {
  for (std::size_t rank = 0; rank < size_; ++rank) {
    Place place{.ranks_on_gpus = 0, .ranks_on_host = 0};
    for (std::size_t other = 0; other < size_; ++other) {
      if (hosts_[other] != hosts_[rank]) continue;
      ++place.ranks_on_host;
      if (gpus[other] != gpus[rank]) continue;
      ++place.ranks_on_gpus;
      if (other < rank) ++place.rank_on_gpus;
    }
    if (rank == 0) {
      place_ = place;
    } else {
      std::vector<std::byte> bytes;
      append_bytes(bytes, place);
      say(rank, Word::place, std::move(bytes));
    }
  }
}

std::string Conversation::name_of(std::size_t rank) const {
  const std::string name = "rank " + std::to_string(rank);
  return hosts_[rank].empty() ? name : name + " on " + hosts_[rank];
}

void Conversation::begin_job() {
  ++job_;
  std::erase_if(letters_, [this](const Letter& letter) {
    return letter.job < job_ && letter.word != Word::leave;
  });
  restart_timeout();
  std::ranges::fill(progress_, 0);
}

void Conversation::restart_timeout() noexcept {
  std::ranges::fill(heard_, Clock::now());
}

void Conversation::say(std::size_t to, Word word, std::vector<std::byte> bytes) {
  std::vector<std::byte> message;
  message.reserve(sizeof(word) + sizeof(job_) + bytes.size());
  append_bytes(message, word);
  append_bytes(message, job_);
  message.insert(message.end(), bytes.begin(), bytes.end());
  communicator_->send(to, std::move(message));
}

void Conversation::say_to_others(Word word, const std::vector<std::byte>& bytes) {
  for (std::size_t rank = 0; rank < size_; ++rank) {
    if (rank != rank_) say(rank, word, bytes);
  }
}

/// Returns the value that `take` reads from the bytes of a rank. Throws Error(usage) if they end
/// too early or have an invalid value.
template <class Take>
auto Conversation::read(std::size_t from, std::span<const std::byte> bytes, const Take& take) const
    -> decltype(take(std::declval<ByteReader&>())) {
  ByteReader in(bytes);
  try {
    return take(in);
  } catch (const Error& error) {
    const bool is_short = error.kind() == ErrorKind::bad_input;  // as ByteReader says it
    throw Error(ErrorKind::usage,
                name_of(rank_) + " does not understand a message of " + name_of(from),
                {.why = is_short ? "it ends too early" : error.what(),
                 .hint = "all ranks run the same version of the program"});
  }
}

/// Takes all that has arrived.
void Conversation::listen() {
  while (std::optional<RankMessage> message = communicator_->receive()) {
    Letter letter = read(message->from, message->bytes, [&](ByteReader& in) {
      const Word word = take_one_of(in, Word::leave, "word");
      const auto job = in.take<std::uint64_t>();
      const auto rest = in.take_bytes(in.left());
      return Letter{message->from, word, job, {rest.begin(), rest.end()}};
    });
    heard_[letter.from] = Clock::now();
    if (letter.word == Word::alive) {
      if (letter.job == job_) {
        progress_[letter.from] = read(letter.from, letter.bytes,
                                      [](ByteReader& in) { return in.take<std::uint64_t>(); });
      }
    } else if (letter.word == Word::failure) {
      take_failure(letter);
    } else if (letter.word == Word::leave) {
      left_[letter.from] = true;
      if (letter.from == 0) letters_.push_back(std::move(letter));
    } else if (letter.job >= job_) {
      letters_.push_back(std::move(letter));
    }
  }
}

/// Keeps the first failure. Rank 0 tells the others of it.
void Conversation::take_failure(const Letter& letter) {
  if (failure_) return;
  failure_ = read(letter.from, letter.bytes, [](ByteReader& in) {
    const auto origin = static_cast<std::size_t>(in.take<std::uint64_t>());
    const ErrorKind kind = take_one_of(in, ErrorKind::internal, "kind of error");
    const std::string what = take_text(in), why = take_text(in), hint = take_text(in);
    return Failure{origin, Error(kind, what, {.why = why, .hint = hint})};
  });
  if (rank_ == 0) say_to_others(Word::failure, letter.bytes);
}

void Conversation::say_alive() {
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> at_least(timeout_ / 5);  // of a short timeout
  if (now - said_alive_ < between_signs && now - said_alive_ < at_least) return;
  said_alive_ = now;
  std::vector<std::byte> bytes;
  append_bytes(bytes, progress_[rank_]);
  for (std::size_t rank = 0; rank < size_; ++rank) {
    if (watches(rank)) say(rank, Word::alive, bytes);
  }
}

Error Conversation::silent(std::size_t rank) const {
  const auto seconds = std::chrono::duration<double>(Clock::now() - heard_[rank]).count();
  return {ErrorKind::stalled,
          name_of(rank_) + " has heard nothing of " + name_of(rank) + " for " +
              std::to_string(static_cast<int>(seconds)) + " s",
          {.why = "its process or its machine has stopped, or the network between",
           .hint = "the job begins anew, or goes on from its checkpoints, if it has any"}};
}

/// Throws Error(stalled) if another rank is silent. A rank that has not listened for a while, for
/// example because it was suspended, cannot know.
void Conversation::require_others() {
  const Clock::time_point now = Clock::now();
  const double deaf = std::chrono::duration<double>(now - std::exchange(listened_, now)).count();
  if (deaf > timeout_ / 2) std::ranges::fill(heard_, now);
  for (std::size_t rank = 0; rank < size_; ++rank) {
    if (watches(rank) && std::chrono::duration<double>(now - heard_[rank]).count() > timeout_) {
      throw silent(rank);
    }
  }
}

void Conversation::attend() {
  listen();
  go_on();
}

/// Says that this rank is alive, and throws if another one is not.
void Conversation::go_on() {
  if (failure_) throw failure_->error;
  say_alive();
  require_others();
}

std::optional<Letter> Conversation::take(Word word) {
  const auto is_this = [&](const Letter& letter) {
    return letter.word == word && (letter.job == job_ || word == Word::leave);
  };
  const auto found = std::ranges::find_if(letters_, is_this);
  if (found == letters_.end()) return std::nullopt;
  Letter letter = std::move(*found);
  letters_.erase(found);
  return letter;
}

std::optional<Letter> Conversation::take(Word word, std::size_t from) {
  const auto is_this = [&](const Letter& letter) {
    return letter.word == word && letter.from == from && letter.job == job_;
  };
  const auto found = std::ranges::find_if(letters_, is_this);
  if (found == letters_.end()) return std::nullopt;
  Letter letter = std::move(*found);
  letters_.erase(found);
  return letter;
}

Letter Conversation::await(Word word, std::size_t from, const std::function<void()>& meanwhile) {
  for (;;) {
    listen();  // a word may arrive together with a failure after it
    if (std::optional<Letter> letter = take(word, from)) return *std::move(letter);
    go_on();
    if (meanwhile) meanwhile();
    require_present(from);
    nap();
  }
}

/// Throws Error(usage) if a rank that is waited for makes no more calls.
void Conversation::require_present(std::size_t rank) const {
  if (!left_[rank]) return;
  throw Error(ErrorKind::usage, name_of(rank) + " has left, and others have not",
              {.why = "all ranks make the same calls, in the same order"});
}

void Conversation::nap() {
  std::this_thread::sleep_for(nap_time);
}

std::uint64_t Conversation::progress() const noexcept {
  return std::accumulate(progress_.begin(), progress_.end(), std::uint64_t{0});
}

void Conversation::fail(const Error& error) noexcept {
  try {
    if (failure_ || has_left_) return;
    failure_ = {rank_, error};
    const std::vector<std::byte> bytes = packed(error, rank_, name_of(rank_));
    if (rank_ != 0) return say(0, Word::failure, bytes);
    say_to_others(Word::failure, bytes);
  } catch (...) {
    // The others find out by the silence of this rank.
  }
}

Conversation::~Conversation() {
  if (!has_left_) return;
  try {
    communicator_->close();
  } catch (const Error&) {
    // The caller has its results.
  }
}

std::optional<std::size_t> Conversation::failed() const noexcept {
  return failure_ ? std::optional(failure_->origin) : std::nullopt;
}

std::optional<std::size_t> Conversation::leave() {
  if (has_left_) return failed();
  restart_timeout();
  left_[rank_] = true;
  if (rank_ != 0) say(0, Word::leave);
  std::optional<Clock::time_point> deadline;
  for (;;) {
    listen();
    say_alive();
    std::size_t missing = 0;
    while (missing < size_ && (!watches(missing) || left_[missing])) ++missing;
    if (missing == size_) break;
    const auto begins = [](const Letter& letter) { return letter.word == Word::begin; };
    if (std::ranges::any_of(letters_, begins)) {
      fail({ErrorKind::usage,
            "rank 0 has left, and others have not",
            {.why = "all ranks make the same calls, in the same order"}});
    }
    if (failure_ && !deadline) {
      const std::chrono::duration<double> patience(std::min(patience_after_failure, timeout_));
      deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    }
    if (deadline && Clock::now() > *deadline) throw silent(missing);
    if (!failure_) require_others();
    nap();
  }
  has_left_ = true;
  if (rank_ != 0) {  // rank 0 knows whose failure was the first
    const Letter letter = *take(Word::leave);
    ByteReader in(letter.bytes);
    if (in.left() == 0) return std::nullopt;
    return static_cast<std::size_t>(in.take<std::uint64_t>());
  }
  std::vector<std::byte> bytes;
  if (failure_) append_bytes(bytes, std::uint64_t{failure_->origin});
  say_to_others(Word::leave, bytes);
  return failed();
}

}  // namespace ooc::detail
