#include "pass/pass.hpp"

#include <ooc/detail/checksum/checksum.hpp>

#include <atomic>
#include <vector>

#include "pass/appender.hpp"

namespace ooc::detail {

namespace {

/// Adapts the operation, in which lanes may wait for one another, to a meeting point.
class WaitsInOperation final : public MeetingPoint {
 public:
  explicit WaitsInOperation(Operation& operation) : operation_(operation) {}

  /// Called before the lanes start. Until then no thread waits there, and the operation may be used
  /// in another attempt at the pass, so it is not to be aborted.
  void begin() noexcept { has_begun_ = true; }

  void abort() noexcept override {
    if (has_begun_) operation_.abort();
  }

 private:
  Operation& operation_;
  std::atomic<bool> has_begun_{false};
};

}  // namespace

void Pass::run(const std::function<void()>& prepare, const std::function<void()>& report) {
  WaitsInOperation in_operation(parts_.operation);
  std::vector<MeetingPoint*> meeting_points{&parts_.pool, &in_operation};
  if (parts_.checksum != nullptr) meeting_points.push_back(&parts_.checksum->turns());
  if (parts_.appender != nullptr) meeting_points.push_back(&parts_.appender->turns());
  if (producer_ != nullptr) meeting_points.push_back(producer_);
  PassThreads threads(std::move(meeting_points));
  if (reader_ != nullptr) {
    threads.start([this] { reader_->run([this] { return parts_.end_of_chunks(); }); });
  }
  const bool is_prepared = threads.run(prepare);
  if (is_prepared) {
    in_operation.begin();
    if (producer_ != nullptr) threads.start([this] { producer_->run(); });
    for (const auto& lane : lanes_) {
      threads.start([this, &lane = *lane] { lane.run(parts_); });
    }
    if (writer_ != nullptr) threads.start([this] { writer_->run(); });
  }
  threads.join([&] {
    if (is_prepared) report();
  });
}

}  // namespace ooc::detail
