#include <ooc/detail/dataset/producer.hpp>
#include <ooc/detail/file/file.hpp>

#include <algorithm>
#include <utility>

namespace ooc::detail {
namespace {

class FileProducer final : public Producer {
 public:
  explicit FileProducer(File file) : file_(std::move(file)) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    if (stop.stop_requested()) return 0;
    const std::uint64_t bytes = std::min<std::uint64_t>(room.size(), file_.size() - place_);
    if (bytes != 0) read_exactly(file_, place_, room.first(bytes));
    place_ += bytes;
    file_.check_unchanged();  // each time: what reads may need no more
    return bytes;
  }

  std::string name() const override { return file_.path().string(); }

 private:
  File file_;
  std::uint64_t place_ = 0;
};

}  // namespace

std::unique_ptr<Producer> read_file(File file) {
  return std::make_unique<FileProducer>(std::move(file));
}

}  // namespace ooc::detail
