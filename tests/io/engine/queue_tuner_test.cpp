#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/engine/queue_tuner.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace ooc::detail {
namespace {

using Clock = QueueTuner::Clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t request = 512 * KiB;
constexpr std::size_t first = 24;
constexpr double GB = 1e9;

/// Returns the rate in bytes per second at a queue depth of `requests`.
using Disk = std::function<double(double requests)>;

struct Outcome {
  double rate;  // of the whole transfer, bytes per second
  std::size_t best;
  std::size_t most;  // in flight at any time
};

/// Simulates a transfer of `bytes` bytes with a computed clock. The disk's rate changes from one
/// stretch of some milliseconds to the next: it has random noise and a drift, scaled by `noise`.
Outcome transfer(std::size_t bytes, const Disk& disk, double noise = 0, unsigned seed = 0) {
  constexpr std::size_t requests_until_followed = 100;
  constexpr std::size_t requests_of_a_stretch = 20;
  std::mt19937 random(seed);
  std::normal_distribution<double> wavering, drifting;
  double drift = 0;
  QueueTuner tuner(first, first / 4, first * 4, request);
  Clock::time_point now{};
  now += std::chrono::hours(1);
  const Clock::time_point begin = now;
  tuner.follow(now);
  std::size_t in_flight = tuner.wanted(), most = in_flight;
  std::size_t unfollowed = 0;
  double factor = 1;
  for (std::size_t i = 0; i * request < bytes; ++i) {
    if (i % requests_of_a_stretch == 0) {
      drift = 0.9 * drift + noise / 3 * drifting(random);
      factor = std::exp(drift + noise * wavering(random));
    }
    const double rate = disk(static_cast<double>(in_flight)) * factor;
    now += std::chrono::duration_cast<Clock::duration>(Seconds(request / rate));
    tuner.complete(request, now);
    if (tuner.wanted() == in_flight) continue;
    if (++unfollowed < requests_until_followed) continue;
    unfollowed = 0;
    in_flight = tuner.wanted();
    most = std::max(most, in_flight);
    tuner.follow(now);
  }
  return {static_cast<double>(bytes) / Seconds(now - begin).count(), tuner.best(), most};
}

double flat(double) {
  return 3 * GB;
}
/// A distant disk: each request takes 10 ms, and the network's rate is at most 8 GB/s.
double far_away(double requests) {
  return std::min(requests * request / 0.01, 8 * GB);
}
double best_with_few(double requests) {
  return requests <= 12 ? 3 * GB : 3 * GB / (1 + (requests - 12) / 50);
}
/// A disk that gains less from each further request.
double saturating(double requests) {
  return 3 * GB * requests / (requests + first / 2.0);
}
double worse_with_others(double requests) {
  return requests == first ? 3 * GB : 2.5 * GB;
}

TEST(QueueTuner, LeavesADiskThatIsWellServedAlone) {
  const Outcome outcome = transfer(64 * GiB, flat);
  EXPECT_EQ(outcome.best, first);
  EXPECT_EQ(outcome.most, first);
}

TEST(QueueTuner, TriesMoreOnADiskThatServesFewerMoreSlowly) {
  const Outcome outcome = transfer(64 * GiB, worse_with_others);
  EXPECT_EQ(outcome.best, first);
  EXPECT_EQ(outcome.most, 2 * first);
}

TEST(QueueTuner, FindsHowManyADistantDiskNeeds) {
  const Outcome outcome = transfer(16 * GiB, far_away);
  EXPECT_EQ(outcome.best, 4 * first);
  EXPECT_GT(outcome.rate, 0.75 * far_away(96));  // it starts at a quarter of the best depth
}

TEST(QueueTuner, FindsThatThroughNoise) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    EXPECT_GT(transfer(16 * GiB, far_away, 0.2, seed).best, first) << seed;
    EXPECT_GT(transfer(64 * GiB, saturating, 0.05, seed).best, first) << seed;
  }
}

TEST(QueueTuner, SeldomTriesMoreForNothing) {
  for (const double noise : {0.05, 0.1, 0.2}) {
    int tried = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      tried += transfer(16 * GiB, flat, noise, seed).most > first;
    }
    EXPECT_LE(tried, 10) << noise;
  }
}

TEST(QueueTuner, FindsThatFewerAreBetter) {
  const Outcome outcome = transfer(64 * GiB, best_with_few);
  EXPECT_LE(outcome.best, 12u);
  EXPECT_GT(outcome.rate, 1.1 * best_with_few(first));
}

TEST(QueueTuner, KeepsToItsLimits) {
  EXPECT_EQ(transfer(64 * GiB, [](double n) { return n * GB; }).best, 4 * first);
  EXPECT_EQ(transfer(64 * GiB, [](double n) { return 100 * GB / n; }).best, first / 4);
}

TEST(QueueTuner, CostsLittleWhereTheFirstNumberIsTheBest) {
  for (const std::size_t size : {1 * GiB, 4 * GiB, 64 * GiB}) {
    EXPECT_GT(transfer(size, worse_with_others).rate, 0.97 * 3 * GB) << size;
  }
}

TEST(QueueTuner, IsNotMisledByNoise) {
  for (const double noise : {0.05, 0.1, 0.2, 0.4}) {
    double with = 0, without = 0;
    int wrong = 0;
    constexpr unsigned runs = 100;
    for (unsigned seed = 0; seed < runs; ++seed) {
      const Outcome outcome = transfer(16 * GiB, worse_with_others, noise, seed);
      with += 1 / outcome.rate;
      without += 1 / transfer(
                         16 * GiB, [](double) { return 3 * GB; }, noise, seed)
                         .rate;
      wrong += outcome.best != first;
    }
    EXPECT_GT(without / with, 0.97) << noise;
    EXPECT_LE(wrong, 10) << noise;
  }
}

}  // namespace
}  // namespace ooc::detail
