#include <ooc/detail/dataset/producer.hpp>
#include <ooc/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace ooc::detail {
namespace {

/// Owns the descriptor that it reads.
class PipeProducer final : public Producer {
 public:
  PipeProducer(int descriptor, const std::string& name)
      : descriptor_(descriptor), reader_(read_descriptor(descriptor, name)) {}
  ~PipeProducer() override { ::close(descriptor_); }
  PipeProducer(const PipeProducer&) = delete;
  PipeProducer& operator=(const PipeProducer&) = delete;

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    return reader_->fill(room, stop);
  }
  std::string name() const override { return reader_->name(); }

 private:
  int descriptor_;
  std::unique_ptr<Producer> reader_;
};

}  // namespace

bool is_pipe(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

std::unique_ptr<Producer> read_pipe(const std::filesystem::path& path) {
  // O_NONBLOCK: opening would otherwise wait for a writer, and could not be stopped.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) throw Error::from_errno(ErrorKind::input, "open", errno, path);
  return std::make_unique<PipeProducer>(descriptor, path.string());
}

}  // namespace ooc::detail
