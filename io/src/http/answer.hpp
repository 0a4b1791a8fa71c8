#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ooc::detail {

/// The fields of the header of an answer that matter for reading a range of an object.
struct Answer {
  /// A range of bytes and the size of the whole object, as of "bytes 0-99/1000". Either may be
  /// unknown.
  struct ContentRange {
    std::uint64_t first = 0, last = 0;  // inclusive
    bool has_range = false;             // false: "bytes */1000"
    std::optional<std::uint64_t> size{};
  };

  int status = 0;
  std::string reason{};  // of the status line; may be empty
  std::optional<ContentRange> range{};
  std::optional<std::uint64_t> content_length{};
  std::string etag{};  // as sent, weak ones too
  std::string modified{};
  std::string encodings{};  // of all lines, in lower case, with commas between them
  bool is_chunked = false;  // the answer says where it ends, also without a length
  std::string bucket_region{};

  /// Takes a line of the header, with or without its end. A status line begins a new answer: there
  /// is one before each redirection.
  void add_line(std::string_view line);

  /// True if the body is compressed. Other words, such as `aws-chunked`, which some clients store
  /// with objects, do not change bytes.
  bool is_compressed() const;

  /// Returns the status and its reason: "404 Not Found".
  std::string status_text() const;
};

}  // namespace ooc::detail
