#include <ooc/ranks.hpp>

#include <exception>
#include <string>
#include <utility>

#include "ranks/conversation.hpp"

namespace ooc {

// Here, so that its type is in the library: exceptions and casts compare it.
Communicator::~Communicator() = default;

Ranks::Ranks(std::unique_ptr<Communicator> communicator)
    : conversation_(std::make_unique<detail::Conversation>(std::move(communicator))),
      exceptions_(std::uncaught_exceptions()) {}

Ranks::~Ranks() {
  if (std::uncaught_exceptions() != exceptions_) return;
  try {
    leave();
  } catch (const Error&) {
    // A rank is silent. The caller has its results.
  }
}

std::size_t Ranks::rank() const noexcept {
  return conversation_->rank();
}
std::size_t Ranks::size() const noexcept {
  return conversation_->size();
}
std::size_t Ranks::rank_on_gpus() const noexcept {
  return conversation_->rank_on_gpus();
}
std::size_t Ranks::ranks_on_gpus() const noexcept {
  return conversation_->ranks_on_gpus();
}
std::size_t Ranks::ranks_on_host() const noexcept {
  return conversation_->ranks_on_host();
}
std::string Ranks::name() const {
  return conversation_->name_of(rank());
}
void Ranks::set_timeout(double seconds) noexcept {
  conversation_->set_timeout(seconds);
}
void Ranks::attend() {
  conversation_->attend();
}
void Ranks::fail(const Error& error) noexcept {
  conversation_->fail(error);
}

std::optional<std::size_t> Ranks::failed() const noexcept {
  return conversation_->failed();
}

std::optional<std::size_t> Ranks::leave() {
  return conversation_->leave();
}

detail::Conversation& detail::conversation_of(Ranks& ranks) noexcept {
  return *ranks.conversation_;
}

}  // namespace ooc
