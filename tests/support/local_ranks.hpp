#pragma once

#include <ooc/error.hpp>
#include <ooc/ranks.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace ooc::detail::test {

/// Ranks that are threads of this process, with messages that take a while.
class LocalRanks {
 public:
  /// `hosts`: machines that the ranks are said to be on, by turns.
  explicit LocalRanks(std::size_t size, std::size_t hosts = 1)
      : network_(std::make_shared<Network>(size)), hosts_(hosts) {}

  /// Sets the time that each message takes.
  void set_latency(std::chrono::microseconds latency) { network_->latency = latency; }

  /// Returns the end of a rank. To be called once for each.
  std::unique_ptr<Communicator> end(std::size_t rank) const {
    return std::make_unique<End>(network_, rank, "host" + std::to_string(rank % hosts_));
  }

  /// Lets nothing arrive any more that a rank sends.
  void silence(std::size_t rank) { network_->ranks[rank]->is_silent = true; }

  /// Runs a job on all ranks. Returns the exception of each; null if there is none.
  std::vector<std::exception_ptr> run(const std::function<void(Ranks&)>& job) const {
    std::vector<std::exception_ptr> errors(network_->ranks.size());
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < errors.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          Ranks ranks(end(rank));
          ranks.set_timeout(timeout_);
          job(ranks);
        } catch (...) {
          errors[rank] = std::current_exception();
        }
      });
    }
    threads.clear();
    return errors;
  }

  /// Sets Ranks::set_timeout() of all (seconds).
  void set_timeout(double seconds) { timeout_ = seconds; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Rank {
    std::mutex mutex{};
    std::deque<std::pair<Clock::time_point, RankMessage>> arriving{};
    std::atomic<bool> is_silent{false};
  };
  struct Network {
    explicit Network(std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) ranks.push_back(std::make_unique<Rank>());
    }
    std::vector<std::unique_ptr<Rank>> ranks{};
    std::atomic<std::chrono::microseconds> latency{};
  };

  class End final : public Communicator {
   public:
    End(std::shared_ptr<Network> network, std::size_t rank, std::string host)
        : network_(std::move(network)), rank_(rank), host_(std::move(host)) {}

    std::size_t rank() const noexcept override { return rank_; }
    std::size_t size() const noexcept override { return network_->ranks.size(); }
    std::string host() const override { return host_; }

    void send(std::size_t to, std::vector<std::byte> bytes) override {
      if (network_->ranks[rank_]->is_silent) return;
      Rank& other = *network_->ranks[to];
      const std::scoped_lock lock(other.mutex);
      other.arriving.emplace_back(Clock::now() + network_->latency.load(),
                                  RankMessage{rank_, std::move(bytes)});
    }

    std::optional<RankMessage> receive() override {
      Rank& own = *network_->ranks[rank_];
      const std::scoped_lock lock(own.mutex);
      if (own.arriving.empty() || own.arriving.front().first > Clock::now()) return std::nullopt;
      RankMessage message = std::move(own.arriving.front().second);
      own.arriving.pop_front();
      return message;
    }

   private:
    std::shared_ptr<Network> network_;
    std::size_t rank_;
    std::string host_;
  };

  std::shared_ptr<Network> network_;
  std::size_t hosts_;
  double timeout_ = 60;
};

/// Returns the kind and the text of an error, or those of none.
inline std::pair<ErrorKind, std::string> described(const std::exception_ptr& error) {
  if (error == nullptr) return {ErrorKind::internal, "no error"};
  try {
    std::rethrow_exception(error);
  } catch (const Error& found) {
    return {found.kind(), found.what()};
  } catch (const std::exception& found) {
    return {ErrorKind::internal, found.what()};
  }
}

}  // namespace ooc::detail::test
