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

/// Returns the width or height of the screen: from the variable, or from the kernel, or else 0.
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
    const std::string value = ooc::detail::lower_case(environment(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

/// True if, within a time, a descriptor accepts bytes or fails.
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
    const ooc::detail::Utf8Character character = ooc::detail::first_character(text);
    const auto code = static_cast<std::uint32_t>(character.code);
    if (character.code == '\n') {
      result += "\\n";
    } else if (!character.is_valid ||
               (ooc::detail::is_control(character.code) && character.bytes == 1)) {
      result += fmt::format("\\x{:02x}", code);
    } else if (ooc::detail::is_control(character.code)) {
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
  ooc::detail::Repeats repeats;
  while (!text.empty()) {
    // Wait until the descriptor accepts bytes, then write no more than a pipe accepts then.
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

/// Returns the width at which text for a descriptor is wrapped: unlimited for files and pipes.
std::size_t columns_for(int descriptor) {
  const Terminal terminal = describe_terminal(descriptor);
  return terminal.interactive ? terminal.columns : std::numeric_limits<std::size_t>::max();
}

/// Wraps a line. Continuation lines begin below its last column, which follows two spaces, or at a
/// quarter of the width if that column begins beyond the middle.
std::string break_line(std::string_view line, std::size_t columns) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::size_t last = line.rfind("  ");
  last = last == std::string_view::npos || last < indent ? indent : last + 2;
  if (columns_of(line.substr(0, last)) <= columns / 2) {
    return wrap(line.substr(0, last), line.substr(last), columns);
  }
  std::string_view head = line.substr(0, last);
  head.remove_suffix(head.size() - 1 - head.find_last_not_of(' '));
  return fmt::format("{}\n{}", head,
                     wrap(std::string(columns / 4, ' '), line.substr(last), columns));
}

}  // namespace

std::string lines_for_stdout(std::string_view text) {
  const std::size_t columns = columns_for(STDOUT_FILENO);
  std::string lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool has_colours = line.find('\x1b') != std::string_view::npos;
    const bool fits = has_colours || columns_of(line) <= columns;
    lines += fits ? std::string(line) + "\n" : break_line(line, columns);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return lines;
}

std::string lines_for_stderr(std::string_view first, std::string_view text) {
  return wrap(first, printable(text), columns_for(STDERR_FILENO));
}

void print_note(std::string_view note) {
  print_to_stderr(lines_for_stderr("ooc-run: note: ", ooc::detail::without_secrets(note)));
}

void print_warning(std::string_view warning) {
  print_to_stderr(lines_for_stderr("ooc-run: warning: ", ooc::detail::without_secrets(warning)));
}

}  // namespace ooc_run
