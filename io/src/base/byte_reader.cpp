#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/error.hpp>

namespace ooc::detail {

namespace {

Error cut_short() {
  return {ErrorKind::bad_input, "a saved partial result ends too early"};
}

}  // namespace

void append_span(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const std::size_t size = out.size();
  out.resize(size + bytes.size());
  std::memcpy(out.data() + size, bytes.data(), bytes.size());
}

std::span<const std::byte> ByteReader::take_bytes(std::uint64_t size) {
  if (size > bytes_.size()) throw cut_short();
  const std::span<const std::byte> taken = bytes_.first(static_cast<std::size_t>(size));
  bytes_ = bytes_.subspan(taken.size());
  return taken;
}

std::size_t ByteReader::take_count(std::size_t bytes_each) {
  const auto count = take<std::uint64_t>();
  if (count > bytes_.size() / bytes_each) throw cut_short();
  return static_cast<std::size_t>(count);
}

void ByteReader::require_end() const {
  if (bytes_.empty()) return;
  throw Error(ErrorKind::bad_input, "a saved partial result has " + std::to_string(left()) +
                                        (left() == 1 ? " byte" : " bytes") + " too many");
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
  append_bytes(out, std::uint64_t{text.size()});
  append_span(out, std::as_bytes(std::span(text)));
}

std::string take_text(ByteReader& in) {
  const auto bytes = in.take_bytes(in.take<std::uint64_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ooc::detail
