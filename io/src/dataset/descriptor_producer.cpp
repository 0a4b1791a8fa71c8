#include <ooc/detail/base/io_meter.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ooc {

using namespace detail;
namespace {

class DescriptorProducer final : public Producer {
 public:
  DescriptorProducer(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {
    const int flags = ::fcntl(descriptor_, F_GETFL);
    if (flags < 0) throw failed();
    if ((flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH) != 0) {
      errno = EBADF;
      throw failed();
    }
    // This may fail: other files than pipes have no such size, and users may have a limit.
    constexpr int large = static_cast<int>(1 * MiB);
    if (::fcntl(descriptor_, F_GETPIPE_SZ) < large) ::fcntl(descriptor_, F_SETPIPE_SZ, large);
  }

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    const IoWait waits(IoPeer::writer);
    Repeats repeats;
    while (!stop.stop_requested()) {
      if (!is_ready(repeats)) continue;
      const ssize_t bytes = ::read(descriptor_, room.data(), room.size());
      if (bytes >= 0) {
        IoMeter::of_process().add(static_cast<std::uint64_t>(bytes));
        return static_cast<std::size_t>(bytes);
      }
      const bool passes = errno == EINTR || errno == EAGAIN;
      if (!passes || !may_repeat(repeats)) throw failed();
    }
    return 0;
  }

  std::string name() const override { return name_; }

 private:
  /// Waits for bytes, or for the end, a tenth of a second at most. A read could not be stopped.
  bool is_ready(Repeats& repeats) const {
    constexpr int interval = 100;  // milliseconds
    pollfd wanted{.fd = descriptor_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, interval);
    if (ready < 0 && (errno != EINTR || !may_repeat(repeats))) throw failed();
    if (ready == 0) repeats.reset();
    return ready > 0;
  }

  /// Leaves errno as it is.
  static bool may_repeat(Repeats& repeats) {
    const int errno_value = errno;
    const bool may = repeats.may_wait_again();
    errno = errno_value;
    return may;
  }

  Error failed() const { return Error::from_errno(ErrorKind::input, "read", errno, name_, {}, ""); }

  int descriptor_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Producer> read_descriptor(int descriptor, std::string name) {
  return std::make_unique<DescriptorProducer>(descriptor, std::move(name));
}

}  // namespace ooc
