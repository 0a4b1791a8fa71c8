#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace ooc_run {

/// Size and capabilities of the terminal behind a descriptor.
struct Terminal {
  std::size_t columns = 80;
  std::size_t rows = std::numeric_limits<std::size_t>::max();  // unlimited if not interactive
  bool interactive = false;  // it is a terminal, and not a dumb one
  bool colour = false;
  bool unicode = false;
};

/// Examines the descriptor and COLUMNS, LINES, NO_COLOR, TERM, LC_ALL, LC_CTYPE and LANG.
Terminal describe_terminal(int descriptor);

/// Escapes control characters, bytes that are not UTF-8, and characters that change the direction
/// of text, as C writes them ("\\n", "\\x1b", "\\u202e"). A file's name must not move the cursor,
/// end the line, or look like another name.
std::string printable(std::string_view text);

/// True if this byte is the first one of a UTF-8 character.
constexpr bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u;
}

/// Returns the width of a text in columns: the number of its characters, not of its bytes.
std::size_t columns_of(std::string_view text);

/// Returns `first` and `text`, broken between words so that no line has more than `columns`. All
/// lines but the first are indented by the width of `first`.
std::string wrap(std::string_view first, std::string_view text, std::size_t columns);

/// Erases the current line of a terminal, for example a progress bar.
inline constexpr std::string_view erase_line = "\r\x1b[K";

/// Writes the whole text to a descriptor. It may be non-blocking (O_NONBLOCK), with a
/// slow reader. Returns 0 or an errno; EAGAIN if the descriptor accepts nothing for
/// `patience`.
int write_whole(int descriptor, std::string_view text,
                std::optional<std::chrono::milliseconds> patience = {});

/// Writes to stderr. Ignores errors, since there is no way to report them and the run goes on.
void print_to_stderr(std::string_view text);

/// Returns lines for stdout, each of which ends with a line break. Those that are wider than a
/// terminal are broken between words.
std::string lines_for_stdout(std::string_view text);

/// Returns `first` and `text` for stderr, with printable() characters: wrapped for a terminal, one
/// line for a file or a pipe.
std::string lines_for_stderr(std::string_view first, std::string_view text);

/// Prints a message that is neither a result nor an error.
void print_note(std::string_view note);

/// Prints a warning about the meaning of the result.
void print_warning(std::string_view warning);

}  // namespace ooc_run
