#pragma once

#include <cstddef>
#include <ooc/collect.hpp>
#include <ooc/error.hpp>
#include <optional>
#include <span>
#include <utility>

namespace ooc_run {

/// The answers to a question in parts, merged one after another.
template <class Value>
class Merged {
 public:
  /// Adds an answer of a file: the first one, or that of `index`. `load` makes it of its bytes.
  /// Throws ooc::Error.
  template <class Load>
  void add(const ooc::PartFile& file, const Load& load, std::size_t index = 0) {
    ooc::PartialResult<Value> part = file.load(index, [&](std::span<const std::byte> saved) {
      try {
        return load(saved);
      } catch (const ooc::Error& error) {
        if (error.kind() != ooc::ErrorKind::usage) throw;
        throw ooc::Error(ooc::ErrorKind::bad_input, "does not answer its own question",
                         {.why = error.what()});
      }
    });
    if (total_) {
      total_->merge(std::move(part));
    } else {
      total_.emplace(std::move(part));
    }
  }

  /// Adds all of them, as one answer, to a file; nothing if there are none.
  void add_to(ooc::PartFile& file) const {
    if (total_) file.add(*total_);
  }

  /// Returns the result, and consumes the answers, of which there is at least one. Throws
  /// ooc::Error if they do not cover all records.
  Value take() { return std::move(*total_).result(); }

 private:
  std::optional<ooc::PartialResult<Value>> total_{};
};

/// Adds what a pass has found to a file, and returns its statistics.
template <class Value>
ooc::Stats keep(ooc::PartFile& file, ooc::Result<ooc::PartialResult<Value>> found) {
  file.add(found.value);
  return std::move(found.stats);
}

}  // namespace ooc_run
