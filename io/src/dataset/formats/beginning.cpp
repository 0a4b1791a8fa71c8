#include "dataset/formats/beginning.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/sample.hpp>
#include <ooc/detail/file/page_reader.hpp>

#include <algorithm>
#include <utility>

namespace ooc::detail {
namespace {

// Enough for all magic bytes and for a guess of the type. More takes longer and tells no more.
constexpr std::size_t first_file_bytes = glance_bytes;
constexpr std::size_t stream_bytes = page_bytes;  // for which a slow writer may take its time

}  // namespace

Beginning::Beginning(const File& file) : file_(&file), path_(file.path()) {}

Beginning::Beginning(const File& file, std::uint64_t offset, std::uint64_t bytes)
    : file_(&file), offset_(offset), part_bytes_(bytes), path_(file.path()) {}

Beginning::Beginning(Producer& producer, std::stop_token stop)
    : producer_(&producer), stop_(std::move(stop)), path_(producer.name()) {}

std::span<const std::byte> Beginning::first(std::size_t bytes) {
  if (bytes > bytes_.size() && !has_ended_) {
    if (file_ != nullptr) {
      read_file(bytes);
    } else {
      read_stream(bytes);
    }
  }
  return std::span(bytes_).first(std::min(bytes, bytes_.size()));
}

std::string_view Beginning::first_text(std::size_t bytes) {
  const auto found = first(bytes);
  return {reinterpret_cast<const char*>(found.data()), found.size()};
}

/// Reads whole pages. A file that shrinks meanwhile ends there; the pass will notice it.
void Beginning::read_file(std::size_t bytes) {
  PageReader reader;
  const std::size_t before = offset_ % page_bytes;              // bytes of the first page
  if (!part_bytes_) bytes = std::max(bytes, first_file_bytes);  // a file may have many parts
  const std::size_t wanted = round_up(before + bytes, page_bytes);
  bytes_.clear();
  while (bytes_.size() < wanted && !has_ended_) {
    const std::size_t piece = std::min(wanted - bytes_.size(), PageReader::piece_bytes);
    const auto got = reader.read(*file_, offset_ - before + bytes_.size(), piece);
    bytes_.insert(bytes_.end(), got.begin(), got.end());
    has_ended_ = got.size() < piece;
  }
  bytes_.erase(bytes_.begin(), bytes_.begin() + std::min(before, bytes_.size()));
  if (!part_bytes_ || bytes_.size() < *part_bytes_) return;
  bytes_.resize(*part_bytes_);
  has_ended_ = true;
}

void Beginning::read_stream(std::size_t bytes) {
  std::size_t done = bytes_.size();
  bytes_.resize(bytes);
  while (done < bytes && !has_ended_ && !stop_.stop_requested()) {
    const std::size_t got = producer_->fill(std::span(bytes_).subspan(done), stop_);
    has_ended_ = got == 0 && !stop_.stop_requested();
    done += std::min(got, bytes - done);
  }
  bytes_.resize(done);
}

std::optional<std::uint64_t> Beginning::bytes() const {
  if (part_bytes_) return part_bytes_;
  if (file_ != nullptr) return file_->size();
  return has_ended_ ? std::optional<std::uint64_t>(bytes_.size()) : std::nullopt;
}

FileSample Beginning::sample() {
  const std::string_view head = first_text(file_ != nullptr ? first_file_bytes : stream_bytes);
  return {.head = head, .bytes = bytes(), .read_last = [this](std::size_t count) {
            return last(count);
          }};
}

std::string Beginning::last(std::size_t count) const {
  if (!bytes() || *bytes() < count) return {};
  std::string text(count, '\0');
  const auto memory = std::as_writable_bytes(std::span(text));
  if (file_ != nullptr) {
    read_exactly(*file_, offset_ + *bytes() - count, memory);
  } else {
    std::ranges::copy(std::span(bytes_).last(count), memory.begin());
  }
  return text;
}

}  // namespace ooc::detail
