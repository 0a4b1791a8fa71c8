#include "result/document.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ooc_run {

void TextStream::add(std::string_view text) {
  if (text.size() > buffer_.size() - used_) flush();
  if (text.size() > buffer_.size()) return write_(text);
  std::copy(text.begin(), text.end(), buffer_.data() + used_);
  used_ += text.size();
}

void TextStream::add(double value) {
  if (std::isnan(value)) return add("\"NaN\"");
  if (std::isinf(value)) return add(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  // The function that dump() calls, so that all numbers of a document have one form.
  std::array<char, 64> digits{};
  const char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + 64, value);
  add({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void TextStream::add(std::uint64_t value) {
  std::array<char, 20> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  add({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void TextStream::add(ooc::int128 value) {
  __extension__ using uint128 = unsigned __int128;
  constexpr unsigned base = 10;
  std::array<char, 40> digits{};  // of the lowest value, with its sign
  std::size_t first = digits.size();
  uint128 rest = value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  do {
    digits[--first] = static_cast<char>('0' + static_cast<int>(rest % base));
    rest /= base;
  } while (rest != 0);
  if (value < 0) digits[--first] = '-';
  add(std::string_view(digits.data() + first, digits.size() - first));
}

void TextStream::flush() {
  if (used_ != 0) write_({buffer_.data(), used_});
  used_ = 0;
}

void Document::print(const TextStream::Write& write) const {
  TextStream out(write);
  std::string_view text = text_;
  std::size_t printed = 0;
  for (const auto& [place, make] : made_) {
    out.add(text.substr(printed, place - printed));
    make(out);
    printed = place;
  }
  out.add(text.substr(printed));
  out.flush();
}

std::string Document::text() const {
  std::string all;
  print([&](std::string_view piece) { all += piece; });
  return all;
}

}  // namespace ooc_run
