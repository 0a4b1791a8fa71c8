#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ooc_run {

/// A text on its way out, in pieces of some KiB. Allocates nothing.
class TextStream {
 public:
  using Write = std::function<void(std::string_view)>;

  /// `write` takes the pieces, and must outlive the stream.
  explicit TextStream(const Write& write) : write_(write) {}

  void add(std::string_view text);
  void add(double value);  // as JSON has it, with the fewest digits that read back as the same
  void add(std::uint64_t value);

  /// Writes what was added last. To be called at the end.
  void flush();

 private:
  const Write& write_;
  std::array<char, 4096> buffer_{};
  std::size_t used_ = 0;
};

/// The text of a result. Parts of it may be made while it is printed: a million numbers take ten
/// times their memory as text or as nodes of a JSON document.
class Document {
 public:
  using Make = std::function<void(TextStream&)>;

  Document() = default;
  Document(std::string text) : text_(std::move(text)) {}  // whole, as most results are

  void add(std::string_view text) { text_ += text; }

  /// Adds a part that is made while the text is printed. `make` allocates nothing and does not
  /// throw, so that a text is printed whole or not at all.
  void add(Make make) { made_.push_back({text_.size(), std::move(make)}); }

  void print(const TextStream::Write& write) const;

  /// Returns all of it, for tests.
  std::string text() const;

 private:
  struct Made {
    std::size_t place;  // in the text
    Make make;
  };

  std::string text_{};
  std::vector<Made> made_{};
};

}  // namespace ooc_run
