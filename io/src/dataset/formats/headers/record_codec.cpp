#include "dataset/formats/headers/record_codec.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/little_endian.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t count_bytes = 4;

class CountedRows final : public Codec {
 public:
  CountedRows(std::uint32_t elements, std::size_t element_bytes)
      : elements_(elements),
        row_bytes_(std::size_t{elements} * element_bytes),
        name_("rows of " + std::to_string(elements) + " elements of " +
              std::to_string(element_bytes) + " bytes with their number") {}

  std::string_view name() const noexcept override { return name_; }
  std::optional<std::uint64_t> encoded_bytes(std::uint64_t decoded) const noexcept override {
    return decoded + decoded / row_bytes_ * count_bytes;
  }
  std::optional<std::uint64_t> decoded_bytes(std::uint64_t encoded) const noexcept override {
    return encoded - encoded / (row_bytes_ + count_bytes) * count_bytes;
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (encoded.size() != encoded_bytes(decoded.size()) || decoded.size() % row_bytes_ != 0) {
      throw Error(ErrorKind::bad_input, "it does not consist of whole rows");
    }
    for (; !decoded.empty(); decoded = decoded.subspan(row_bytes_)) {
      const std::uint64_t found = number_in(encoded, 0, count_bytes);
      if (found != elements_) {
        throw Error(ErrorKind::bad_input, "a row has " + std::to_string(found) +
                                              " elements, not the " + std::to_string(elements_) +
                                              " of the first one");
      }
      std::memcpy(decoded.data(), encoded.data() + count_bytes, row_bytes_);
      encoded = encoded.subspan(count_bytes + row_bytes_);
    }
  }

 private:
  std::uint64_t elements_;
  std::size_t row_bytes_;
  std::string name_;
};

class InvertedSigns final : public Codec {
 public:
  explicit InvertedSigns(std::size_t element_bytes)
      : name_("inverted signs of " + std::to_string(element_bytes) + " bytes") {
    for (std::size_t i = 0; i < word_bytes; i += element_bytes) signs_[i] = std::byte{0x80};
  }

  std::string_view name() const noexcept override { return name_; }
  std::optional<std::uint64_t> encoded_bytes(std::uint64_t decoded) const noexcept override {
    return decoded;
  }
  std::optional<std::uint64_t> decoded_bytes(std::uint64_t encoded) const noexcept override {
    return encoded;
  }

  void decode(std::span<const std::byte> encoded, std::span<std::byte> decoded) const override {
    if (encoded.size() != decoded.size()) {
      throw Error(ErrorKind::bad_input, "it does not consist of whole elements");
    }
    std::uint64_t signs = 0;
    std::memcpy(&signs, signs_.data(), word_bytes);
    std::size_t at = 0;
    for (; at + word_bytes <= decoded.size(); at += word_bytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, encoded.data() + at, word_bytes);
      word ^= signs;
      std::memcpy(decoded.data() + at, &word, word_bytes);
    }
    for (; at < decoded.size(); ++at) decoded[at] = encoded[at] ^ signs_[at % word_bytes];
  }

 private:
  static constexpr std::size_t word_bytes = 8;  // a multiple of all sizes of elements
  std::string name_;
  std::array<std::byte, word_bytes> signs_{};
};

}  // namespace

std::shared_ptr<const RecordCodec> counted_rows(std::uint32_t elements, std::size_t element_bytes) {
  const std::uint64_t bytes = std::uint64_t{elements} * element_bytes;
  return std::make_shared<const RecordCodec>(RecordCodec{
      std::make_shared<const CountedRows>(elements, element_bytes), bytes + count_bytes, bytes});
}

std::shared_ptr<const RecordCodec> inverted_signs(std::size_t element_bytes) {
  return std::make_shared<const RecordCodec>(RecordCodec{
      std::make_shared<const InvertedSigns>(element_bytes), element_bytes, element_bytes});
}

File of_records(File file, StoredArray& array) {
  const RecordCodec& records = *array.records;
  if (file.buffered() < 0) {
    throw Error(ErrorKind::bad_input,
                file.path().string() + ": is read as a local file only, and not compressed",
                {.path = file.path(),
                 .why = "its numbers are decoded piece by piece",
                 .hint = "copy it to this machine, and decompress it"});
  }
  constexpr std::uint64_t most_pieces = 1 << 20;
  const std::uint64_t count = array.bytes / records.bytes;
  const std::uint64_t in_piece =
      std::max({MiB / records.bytes, divide_up(count, most_pieces), std::uint64_t{1}});
  std::vector<EncodedArray::Piece> pieces;
  for (std::uint64_t first = 0; first < count; first += in_piece) {
    const std::uint64_t now = std::min(in_piece, count - first);
    pieces.push_back({.end = (first + now) * records.bytes,
                      .offset = array.offset + first * records.stored_bytes,
                      .bytes = now * records.stored_bytes});
  }
  std::string name = file.path().string();
  std::vector<File> files;
  files.push_back(std::move(file));
  array.offset = 0;
  return File::of_pieces(std::make_shared<const EncodedArray>(
      std::move(files), std::move(pieces), EncodedArray::Encoding{.chain = {records.codec}},
      std::move(name)));
}

}  // namespace ooc::detail
