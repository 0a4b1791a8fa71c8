#include <ooc/detail/pool/turns.hpp>
#include <ooc/error.hpp>

#include <cassert>

namespace ooc::detail {

namespace {

constexpr unsigned state_bits = 2;

constexpr std::uint64_t turn_of(std::size_t index, ChunkState state) {
  return std::uint64_t{index} << state_bits | static_cast<std::uint64_t>(state);
}

}  // namespace

Turns::Turns(std::size_t window) : words_(window) {
  if (window == 0) throw Error(ErrorKind::usage, "the window of a sequence has at least one index");
  restart();
}

void Turns::restart() noexcept {
  end_ = no_end;
  aborted_ = false;
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i].turn = turn_of(i, ChunkState::empty);
}

/// A thread that changes the turn, the end or the abort flag increments `changes` after that. This
/// function reads them in the opposite order. So it either sees the new value, or `changes` differs
/// from `seen` and it does not sleep.
bool Turns::wait(std::size_t index, ChunkState state) {
  Word& word = this->word(index);
  for (;;) {
    const std::uint32_t seen = word.changes;
    if (aborted_) throw Aborted{};
    if (word.turn == turn_of(index, state)) return true;
    if (index >= end_) return false;
    word.changes.wait(seen);
  }
}

bool Turns::is_at(std::size_t index, ChunkState state) const noexcept {
  return words_[index % words_.size()].turn == turn_of(index, state);
}

void Turns::move_to(std::size_t index, ChunkState state) noexcept {
  assert(word(index).turn >> state_bits == index);
  assert(word(index).turn < turn_of(index, state));
  set(word(index), turn_of(index, state));
}

void Turns::finish(std::size_t index) noexcept {
  assert(word(index).turn >> state_bits == index);
  set(word(index), turn_of(index + words_.size(), ChunkState::empty));
}

void Turns::end_at(std::size_t index) noexcept {
  std::size_t end = end_;
  while (index < end && !end_.compare_exchange_weak(end, index)) {
  }
  for (Word& word : words_) wake(word);
}

void Turns::abort() noexcept {
  aborted_ = true;
  for (Word& word : words_) wake(word);
}

void Turns::set(Word& word, std::uint64_t turn) noexcept {
  word.turn = turn;
  wake(word);
}

void Turns::wake(Word& word) noexcept {
  ++word.changes;
  word.changes.notify_all();
}

}  // namespace ooc::detail
