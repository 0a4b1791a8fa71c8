#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ooc/reduce.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// A text that is written through a buffer of 4 KiB. Allocates nothing.
class TextStream {
 public:
  using Write = std::function<void(std::string_view)>;

  /// `write` is called with each piece. It must outlive the stream.
  explicit TextStream(const Write& write) : write_(write) {}

  void add(std::string_view text);
  void add(double value);  // as in JSON, with the fewest digits that read back as the same value
  void add(std::uint64_t value);
  void add(ooc::int128 value);

  /// Writes the text that is still in the buffer. Call it at the end.
  void flush();

 private:
  const Write& write_;
  std::array<char, 4096> buffer_{};
  std::size_t used_ = 0;
};

/// The text of a result. Parts of it may be made during printing: a million numbers take ten times
/// their memory as text or as nodes of a JSON document.
class Document {
 public:
  using Make = std::function<void(TextStream&)>;

  Document() = default;
  Document(std::string text) : text_(std::move(text)) {}  // complete, as for most results

  void add(std::string_view text) { text_ += text; }

  /// Adds a part that is made during printing. `make` allocates nothing and does not throw, so that
  /// either the whole document is printed or nothing.
  void add(Make make) { made_.push_back({text_.size(), std::move(make)}); }

  void print(const TextStream::Write& write) const;

  /// Returns the whole text, including the parts made by functions.
  std::string text() const;

 private:
  struct Made {
    std::size_t place;  // position in the text
    Make make;
  };

  std::string text_{};
  std::vector<Made> made_{};
};

}  // namespace ooc_run
