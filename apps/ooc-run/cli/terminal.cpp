#include "cli/terminal.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <ooc/detail/base/letters.hpp>
#include <ooc/detail/base/repeats.hpp>
#include <ooc/detail/base/utf8.hpp>
#include <ooc/detail/http/secrets.hpp>
#include <string>
#include <string_view>

namespace ooc_run {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Returns the width or height of the screen from a variable, else from the kernel, else 0.
std::size_t find_length(const char* variable, int descriptor, unsigned short winsize::*length) {
  if (const int value = std::atoi(std::string(environment(variable)).c_str()); value > 0) {
    return static_cast<std::size_t>(value);
  }
  winsize size{};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.*length : 0;
}

/// True if the locale is UTF-8. Reads the variables instead of calling setlocale(), because
/// containers often have the variables but no locale files.
bool speaks_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = ooc::lower_case(environment(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

/// True if a descriptor takes bytes, or fails, within a time.
bool takes_more(int descriptor, std::chrono::milliseconds patience) {
  pollfd wanted{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return poll(&wanted, 1, static_cast<int>(patience.count())) > 0;
}

}  // namespace

Terminal describe_terminal(int descriptor) {
  constexpr std::size_t least = 40;  // below that nothing is readable
  constexpr std::size_t most = 120;  // longer lines are hard to read
  Terminal terminal;
  terminal.interactive = isatty(descriptor) == 1 && environment("TERM") != "dumb";
  terminal.colour = terminal.interactive && environment("NO_COLOR").empty();
  terminal.unicode = speaks_utf8();
  const std::size_t columns = find_length("COLUMNS", descriptor, &winsize::ws_col);
  terminal.columns = std::clamp(columns == 0 ? Terminal{}.columns : columns, least, most);
  const std::size_t rows = find_length("LINES", descriptor, &winsize::ws_row);
  if (terminal.interactive && rows != 0) terminal.rows = rows;
  return terminal;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const ooc::Utf8Character character = ooc::first_character(text);
    const auto code = static_cast<std::uint32_t>(character.code);
    if (character.code == '\n') {
      result += "\\n";
    } else if (!character.is_valid || (ooc::is_control(character.code) && character.bytes == 1)) {
      result += fmt::format("\\x{:02x}", code);
    } else if (ooc::is_control(character.code)) {
      result += fmt::format("\\u{:04x}", code);
    } else {
      result += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

std::string wrap(std::string_view first, std::string_view text, std::size_t columns) {
  const std::size_t indent = columns_of(first);
  std::string lines(first);
  std::size_t column = indent;
  while (!text.empty()) {
    std::size_t space = text.find(' ');
    while (space < text.size() && text.substr(space + 1).starts_with('%')) {
      space = text.find(' ', space + 1);  // keep a number and its percent sign together
    }
    space = std::min(space, text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    const bool begins = column == indent;
    if (!begins && column + 1 + columns_of(word) > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!begins) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns_of(word);
  }
  return lines + "\n";
}

int write_whole(int descriptor, std::string_view text,
                std::optional<std::chrono::milliseconds> patience) {
  ooc::Repeats repeats;
  while (!text.empty()) {
    // A write that does not wait for long is asked for first, and so small that a pipe takes it.
    if (patience && !takes_more(descriptor, *patience)) return EAGAIN;
    const std::size_t bytes = patience ? std::min<std::size_t>(text.size(), PIPE_BUF) : text.size();
    const ssize_t written = write(descriptor, text.data(), bytes);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      repeats.reset();
      continue;
    }
    const int errno_value = errno;
    if ((errno_value != EINTR && errno_value != EAGAIN) || !repeats.may_repeat()) {
      return errno_value;
    }
    constexpr std::chrono::milliseconds long_time(1000);
    if (errno_value == EAGAIN && !takes_more(descriptor, long_time)) repeats.reset();
  }
  return 0;
}

void print_to_stderr(std::string_view text) {
  write_whole(STDERR_FILENO, text);
}

namespace {

std::string wrap_for(int descriptor, std::string_view first, std::string_view text) {
  const Terminal terminal = describe_terminal(descriptor);
  constexpr std::size_t endless = std::numeric_limits<std::size_t>::max();
  return wrap(first, text, terminal.interactive ? terminal.columns : endless);
}

}  // namespace

std::string line_for_stdout(std::string_view text) {
  return wrap_for(STDOUT_FILENO, "", text);
}

std::string lines_for_stderr(std::string_view first, std::string_view text) {
  return wrap_for(STDERR_FILENO, first, printable(text));
}

void print_note(std::string_view note) {
  print_to_stderr(lines_for_stderr("ooc-run: note: ", ooc::without_secrets(note)));
}

void print_warning(std::string_view warning) {
  print_to_stderr(lines_for_stderr("ooc-run: warning: ", ooc::without_secrets(warning)));
}

}  // namespace ooc_run
