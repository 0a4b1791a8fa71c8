#include "engine/engines.hpp"
#include "file/file_size_signal.hpp"

#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/error.hpp>

#include <liburing.h>
#include <sys/uio.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <functional>
#include <optional>
#include <vector>

namespace ooc::detail {
namespace {

Error not_available(int errno_value, const std::string& why) {
  const std::string reason = errno_value != 0 ? describe_errno(errno_value) : why;
  return Error(
      ErrorKind::usage, "io_uring is not available: " + reason,
      {.errno_value = errno_value,
       .why = errno_value != 0 ? why : "",
       .remedies = {{RemedyAction::unset, "Options::engine"},
                    {RemedyAction::set, "Options::engine", "threads", "reads the same bytes"}}});
}

std::string likely_cause(int errno_value) {
  switch (errno_value) {
    case EPERM: return "seccomp or kernel.io_uring_disabled forbids it";
    case ENOSYS: return "this kernel was built without it, or seccomp hides it";
    case ENOMEM: return "the limit on locked memory (ulimit -l) is too low";
    default: return {};
  }
}

/// Owns a ring. A class of its own, so that the ring is closed even if the engine's constructor
/// throws.
class Uring {
 public:
  explicit Uring(std::size_t depth) {
    const int result = io_uring_queue_init(static_cast<unsigned>(depth), &ring_, 0);
    if (result < 0) throw not_available(-result, likely_cause(-result));
  }
  ~Uring() { io_uring_queue_exit(&ring_); }
  Uring(const Uring&) = delete;
  Uring& operator=(const Uring&) = delete;

  io_uring* get() noexcept { return &ring_; }

  /// True if the kernel can wait for a completion with a timeout (since Linux 5.11).
  bool can_wait_for_a_while() const noexcept { return (ring_.features & IORING_FEAT_EXT_ARG) != 0; }

  /// True if the kernel has IORING_OP_READ and IORING_OP_WRITE (Linux 5.6, as
  /// IORING_FEAT_RW_CUR_POS) and never drops completions (5.5). io_uring_probe would test for the
  /// operations directly, but needs another system call, which may be forbidden where
  /// io_uring_setup is not.
  bool is_recent_enough() const noexcept {
    constexpr unsigned features = IORING_FEAT_NODROP | IORING_FEAT_RW_CUR_POS;
    return (ring_.features & features) == features;
  }

 private:
  io_uring ring_{};
};

/// An engine on one io_uring, used by one thread.
class UringEngine final : public TryingEngine {
 public:
  explicit UringEngine(const EngineOptions& options);
  ~UringEngine() override;

  std::string_view name() const noexcept override { return "uring"; }

 private:
  void begin_try(Request& request) override;
  Outcome next_outcome() override;
  bool has_outcome_within(std::chrono::microseconds patience) override;
  void submit();
  void register_storage(const EngineOptions& options);
  int registered_buffer(const std::byte* memory, std::size_t bytes) const;
  Outcome take(io_uring_cqe* completion);
  Repeats repeats() const;

  Uring ring_;
  bool writes_;
  bool has_failed_ = false;  // a wait for it was given up
  std::span<std::byte> registered_;
  std::size_t piece_ = 0;
};

UringEngine::UringEngine(const EngineOptions& options)
    : TryingEngine(options.depth), ring_(options.depth), writes_(options.writes) {
  if (!ring_.is_recent_enough()) throw not_available(0, "this kernel's is older than Linux 5.6");
  register_storage(options);
}

/// Registers the storage, which saves the kernel from pinning pages for each request. It may be
/// refused, most often by the limit on locked memory; requests then cost a little more CPU time.
void UringEngine::register_storage(const EngineOptions& options) {
  if (options.storage.empty()) return;
  const std::size_t wanted_piece =
      options.storage_piece == 0 ? options.storage.size() : options.storage_piece;
  const std::size_t piece = std::min(wanted_piece, most_bytes_of_a_try);  // the kernel's limit
  std::vector<iovec> pieces;
  for (std::size_t begin = 0; begin < options.storage.size(); begin += piece) {
    const auto part =
        options.storage.subspan(begin, std::min(piece, options.storage.size() - begin));
    pieces.push_back({part.data(), part.size()});
  }
  const int result =
      io_uring_register_buffers(ring_.get(), pieces.data(), static_cast<unsigned>(pieces.size()));
  if (result < 0) {
    set_note("io_uring works without registered buffers: " + describe_errno(-result) +
             (result == -ENOMEM || result == -EPERM ? "; " + likely_cause(-result) : ""));
    return;
  }
  registered_ = options.storage;
  piece_ = piece;
}

/// Returns the index of the registered buffer that contains the memory, or -1.
int UringEngine::registered_buffer(const std::byte* memory, std::size_t bytes) const {
  if (registered_.empty() || std::less<>{}(memory, registered_.data())) return -1;
  const auto begin = static_cast<std::size_t>(memory - registered_.data());
  const std::size_t end = begin + bytes;
  if (end > registered_.size() || begin / piece_ != (end - 1) / piece_) return -1;
  return static_cast<int>(begin / piece_);
}

/// Submits the request at once, so that the disk gets it whatever the caller does next. If the
/// kernel cannot accept it now, it stays queued, and next_outcome() submits it again.
void UringEngine::begin_try(Request& request) {
  io_uring_sqe* entry = io_uring_get_sqe(ring_.get());
  assert(entry != nullptr);  // the ring has an entry for each request in flight
  std::byte* memory = request.memory + request.done;
  const std::size_t bytes = std::min(request.bytes - request.done, most_bytes_of_a_try);
  const std::uint64_t offset = request.offset + request.done;
  const int descriptor = descriptor_of(request);
  const int buffer = registered_buffer(memory, bytes);
  const auto size = static_cast<unsigned>(bytes);
  const bool reads = request.source != nullptr;
  if (reads && buffer >= 0) {
    io_uring_prep_read_fixed(entry, descriptor, memory, size, offset, buffer);
  } else if (reads) {
    io_uring_prep_read(entry, descriptor, memory, size, offset);
  } else if (buffer >= 0) {
    io_uring_prep_write_fixed(entry, descriptor, memory, size, offset, buffer);
  } else {
    io_uring_prep_write(entry, descriptor, memory, size, offset);
  }
  io_uring_sqe_set_data(entry, &request);
  // Some kernels fail requests with EAGAIN if they would block, unless a worker thread performs
  // them from the start.
  if (request.retries > 0) io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
  submit();
}

/// Submits queued requests. Blocks SIGXFSZ, because the kernel may perform a write on this thread.
void UringEngine::submit() {
  std::optional<FileSizeSignal> blocked;
  if (writes_) blocked.emplace();
  io_uring_submit(ring_.get());
}

/// Bounds the next wait. A ring that has failed for ten seconds will fail again. Later waits, such
/// as that of the destructor, therefore last 0.1 seconds at most.
Repeats UringEngine::repeats() const {
  return Repeats(has_failed_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10));
}

TryingEngine::Outcome UringEngine::next_outcome() {
  std::optional<FileSizeSignal> blocked;  // the kernel may finish writes on a waiting thread
  if (writes_) blocked.emplace();
  for (Repeats repeats = this->repeats();;) {
    io_uring_cqe* completion = nullptr;
    const bool all_submitted = io_uring_sq_ready(ring_.get()) == 0;
    if (all_submitted && io_uring_peek_cqe(ring_.get(), &completion) == 0) return take(completion);
    const int result = io_uring_submit_and_wait(ring_.get(), 1);
    if (io_uring_peek_cqe(ring_.get(), &completion) == 0) return take(completion);
    // A signal, or a temporary lack of resources. Queued requests stay queued.
    if (result >= 0) continue;
    const bool passes = result == -EINTR || result == -EAGAIN || result == -EBUSY;
    if (passes && repeats.may_wait_again()) continue;
    has_failed_ = true;
    throw Error::from_errno(writes_ ? ErrorKind::output : ErrorKind::input, "io_uring_enter",
                            -result);
  }
}

/// Returns true on errors: they recur in next_outcome(), which handles them.
bool UringEngine::has_outcome_within(std::chrono::microseconds patience) {
  if (!ring_.can_wait_for_a_while() || io_uring_sq_ready(ring_.get()) != 0) return true;
  io_uring_cqe* completion = nullptr;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(patience);
  __kernel_timespec time{.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(patience - seconds).count()};
  const int error = io_uring_wait_cqe_timeout(ring_.get(), &completion, &time);
  return error != -ETIME && error != -EINTR;
}

TryingEngine::Outcome UringEngine::take(io_uring_cqe* completion) {
  const Outcome outcome{static_cast<Request*>(io_uring_cqe_get_data(completion)), completion->res};
  io_uring_cqe_seen(ring_.get(), completion);
  return outcome;
}

/// Waits for the requests that the kernel has started. Closing a ring does not end them, and they
/// would continue to use memory that the caller may have freed.
UringEngine::~UringEngine() {
  Repeats repeats = this->repeats();
  std::size_t begun = in_flight() - io_uring_sq_ready(ring_.get());
  while (begun > 0) {
    io_uring_cqe* completion = nullptr;
    const int result = io_uring_wait_cqe(ring_.get(), &completion);
    if ((result == -EINTR || result == -EAGAIN) && repeats.may_wait_again()) continue;
    if (result != 0) return;  // the ring itself has failed: completions cannot be received
    io_uring_cqe_seen(ring_.get(), completion);
    repeats.reset();
    --begun;
  }
}

}  // namespace

std::unique_ptr<Engine> make_uring_engine(const EngineOptions& options) {
  return std::make_unique<UringEngine>(options);
}

}  // namespace ooc::detail
