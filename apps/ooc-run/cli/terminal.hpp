#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace ooc_run {

/// What can be shown on a descriptor.
struct Terminal {
  std::size_t columns = 80;
  std::size_t rows = std::numeric_limits<std::size_t>::max();  // so many if nobody is looking
  bool interactive = false;                                    // somebody is looking
  bool colour = false;
  bool unicode = false;
};

/// Looks at the descriptor and at COLUMNS, LINES, NO_COLOR, TERM, LC_ALL, LC_CTYPE and LANG.
Terminal describe_terminal(int descriptor);

/// With control characters, bytes that are not UTF-8, and characters that change the direction of
/// text as C writes them ("\\n", "\\x1b", "\\u202e"): a file's name must not move the cursor, end
/// the line, or make it read as another name.
std::string printable(std::string_view text);

/// Whether a character begins with this byte of UTF-8.
constexpr bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u;
}

/// Columns that a text takes: those of its characters, not of its bytes.
std::size_t columns_of(std::string_view text);

/// `text` broken between words, so that no line has more than `columns`. `first` precedes it; other
/// lines are indented as far.
std::string wrap(std::string_view first, std::string_view text, std::size_t columns);

/// Takes away what stands on the terminal's line, as a bar of progress does.
inline constexpr std::string_view erase_line = "\r\x1b[K";

/// Nobody can be told if this fails, and the run goes on.
void print_to_stderr(std::string_view text);

/// `text` behind `first`, for stderr: printable, wrapped where people read it, and one line where
/// programs do.
std::string lines_for_stderr(std::string_view first, std::string_view text);

/// What is neither a result nor an error.
void print_note(std::string_view note);

/// Prints a doubt about the meaning of the answer.
void print_warning(std::string_view warning);

}  // namespace ooc_run
