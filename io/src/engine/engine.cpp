#include "engine/engines.hpp"

#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>

#include <cassert>
#include <cerrno>

namespace ooc::detail {
namespace {

constexpr std::size_t most_retries = 16;

/// True for errors that do not concern the file. ECANCELED is one although no request is ever
/// cancelled: the kernel returns it if signals prevent the start of a worker thread for the
/// request.
bool may_be_repeated(int errno_value) {
  return errno_value == EINTR || errno_value == EAGAIN || errno_value == ECANCELED;
}

Error error_of(const Request& request, int errno_value) {
  const std::uint64_t offset = request.offset + request.done;
  return request.source != nullptr ? read_error(*request.source, offset, errno_value)
                                   : request.target->write_error(errno_value, offset);
}

}  // namespace

int descriptor_of(const Request& request) {
  const auto of = [&](const auto& file) {
    return request.direct ? file.direct() : file.buffered();
  };
  return request.source != nullptr ? of(*request.source) : of(*request.target);
}

TryingEngine::~TryingEngine() {
  for (; in_flight_ > 0; --in_flight_) IoMeter::of_process().end_operation(IoPeer::disk);
}

void TryingEngine::start(Request& request) {
  assert(in_flight_ < depth_);
  request.done = 0;
  request.retries = 0;
  ++in_flight_;
  IoMeter::of_process().begin_operation(IoPeer::disk);
  begin_try(request);
}

Request& TryingEngine::wait() {
  assert(in_flight_ > 0);
  const IoWait waits(IoPeer::disk);
  IoMeter& meter = IoMeter::of_process();
  for (;;) {
    const Outcome outcome = next_outcome();
    // Before classify(), which throws if the request failed.
    --in_flight_;
    meter.end_operation(IoPeer::disk);
    if (outcome.error) std::rethrow_exception(outcome.error);
    if (classify(*outcome.request, outcome.result)) return *outcome.request;
    ++in_flight_;
    meter.begin_operation(IoPeer::disk);
    begin_try(*outcome.request);
  }
}

/// A completed try does not always complete its request, so this may block for longer than
/// `patience`.
Request* TryingEngine::wait_for(std::chrono::microseconds patience) {
  const IoWait waits(IoPeer::disk);
  return has_outcome_within(patience) ? &wait() : nullptr;
}

/// Handles the result of a try. True if the request is complete; false if it must be tried again.
/// Throws Error if it has failed.
bool TryingEngine::classify(Request& request, int result) {
  if (result < 0) {
    const int errno_value = -result;
    if (may_be_repeated(errno_value) && request.retries < most_retries) {
      ++request.retries;
      return false;
    }
    if (errno_value == EINVAL && request.direct) {
      request.direct = false;
      ++refused_direct_;
      return false;
    }
    throw error_of(request, errno_value);
  }
  request.done += static_cast<std::size_t>(result);
  if (request.done >= request.needed) return true;
  if (result == 0 && request.source != nullptr) {
    throw shrank_error(*request.source, request.offset + request.done);
  }
  if (result == 0) throw error_of(request, EIO);  // a retry would not make progress
  // Short transfers are normal. The remainder may start at an offset that direct I/O does not
  // allow.
  if (request.done % File::alignment() != 0) request.direct = false;
  return false;
}

std::string TryingEngine::remark() const {
  if (refused_direct_ == 0) return few_threads_;
  const std::string refused =
      std::to_string(refused_direct_) +
      (refused_direct_ == 1 ? " direct request was" : " direct requests were") +
      " refused and went through the page cache";
  return few_threads_.empty() ? refused : few_threads_ + "; " + refused;
}

void TryingEngine::note_few_threads(std::size_t started, std::size_t wanted) {
  few_threads_ = "only " + std::to_string(started) + " of " + std::to_string(wanted) +
                 " reading threads could be started";
}

std::unique_ptr<Engine> make_engine(const EngineOptions& options) {
  if (options.depth == 0) throw Error(ErrorKind::usage, "an engine has a depth of at least one");
  if (options.kind == EngineKind::http) return make_http_engine(options);
  if (options.kind == EngineKind::threads) return make_thread_engine(options, {});
  try {
    return make_uring_engine(options);
  } catch (const Error& refused) {
    if (options.kind == EngineKind::uring || refused.kind() != ErrorKind::usage) throw;
    const std::string& why = refused.details().why;
    return make_thread_engine(options, refused.what() + (why.empty() ? "" : "; " + why));
  }
}

}  // namespace ooc::detail
