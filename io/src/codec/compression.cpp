#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "codec/compression.hpp"
#include "codec/stream_decoder.hpp"

namespace ooc::detail {
namespace {

using namespace std::string_view_literals;

bool begins_like(Compression compression, std::string_view bytes) {
  const bool is_skippable =  // a frame without content, of zstd or lz4
      bytes.size() > 3 && bytes.substr(1, 3) == "\x2a\x4d\x18"sv && (bytes.front() & 0xf0) == 0x50;
  switch (compression) {
    case Compression::zstd: return is_skippable || bytes.starts_with("\x28\xb5\x2f\xfd"sv);
    case Compression::gzip: return bytes.starts_with("\x1f\x8b\x08"sv);
    case Compression::lz4: return is_skippable || bytes.starts_with("\x04\x22\x4d\x18"sv);
  }
  return false;
}

/// Decodes what another producer makes.
class DecodedProducer final : public Producer {
 public:
  DecodedProducer(std::unique_ptr<Producer> encoded, Compression compression)
      : encoded_(std::move(encoded)), decoder_(make_stream_decoder(compression)) {}

  std::size_t fill(std::span<std::byte> room, const std::stop_token& stop) override {
    std::span<std::byte> left = room;
    while (!left.empty()) {
      const std::size_t before = left.size() + input_.size();
      decode(left);
      if (left.size() + input_.size() != before) continue;
      if (!read_more(stop)) break;
    }
    const bool is_end = left.size() == room.size() && !stop.stop_requested();
    if (is_end && !decoder_->is_between_frames()) {
      throw Error(ErrorKind::bad_input, name() + ": ends within its compressed data",
                  {.why = "a frame has no end, so the file may be cut off"});
    }
    return room.size() - left.size();
  }

  std::string name() const override { return encoded_->name(); }

 private:
  void decode(std::span<std::byte>& left) {
    try {
      decoder_->decode(input_, left);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::bad_input) throw;
      const std::uint64_t place = read_ - input_.size();
      throw Error(error.kind(), name() + ": cannot be decoded behind byte " + std::to_string(place),
                  {.why = error.what()});
    }
  }

  /// Reads encoded bytes behind those that are left. False at the end, and after a stop request.
  bool read_more(const std::stop_token& stop) {
    std::ranges::copy(input_, buffer_.begin());
    const std::size_t kept = input_.size();
    const std::size_t got = encoded_->fill(std::span(buffer_).subspan(kept), stop);
    read_ += got;
    input_ = std::span(buffer_).first(kept + got);
    return got != 0;
  }

  std::unique_ptr<Producer> encoded_;
  std::unique_ptr<StreamDecoder> decoder_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(1 * MiB);
  std::span<const std::byte> input_;  // in the buffer
  std::uint64_t read_ = 0;            // encoded bytes so far
};

}  // namespace

std::string_view name_of(Compression compression) noexcept {
  constexpr std::array names{"zstd"sv, "gzip"sv, "lz4"sv};
  return names[static_cast<std::size_t>(compression)];
}

std::optional<Compression> compression_of(const File& file) {
  const auto named = compression_of_ending(ending_of(file.path()));
  if (!named) return {};
  constexpr std::uint64_t magic_bytes = 4;
  std::string bytes(std::min(file.size(), magic_bytes), '\0');
  if (bytes.empty()) return {};
  read_exactly(file, 0, std::as_writable_bytes(std::span(bytes)));
  if (begins_like(*named, bytes)) return named;
  const std::string ending = file.path().extension().string();
  throw Error(
      ErrorKind::bad_input,
      file.path().string() + ": is named " + ending + " but does not begin like such a file",
      {.path = file.path(),
       .why = "its bytes would be read as numbers",
       .hint = "if it was decompressed already, leave " + ending + " out of its name",
       .remedies = {{RemedyAction::set, "Format::file", "raw"}}});
}

std::unique_ptr<Producer> decoded(std::unique_ptr<Producer> encoded, Compression compression) {
  return std::make_unique<DecodedProducer>(std::move(encoded), compression);
}

}  // namespace ooc::detail
