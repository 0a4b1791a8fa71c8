#include "cli/failure.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <ooc/detail/http/secrets.hpp>

#include "cli/remedies.hpp"
#include "cli/terminal.hpp"

namespace ooc_run {

void refuse_usage(const std::string& message, const std::string& hint) {
  throw ooc::Error(ooc::ErrorKind::usage, message, {.hint = hint});
}

ooc::Error current_error() {
  try {
    throw;
  } catch (const ooc::Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ooc::ErrorKind::memory,
            "out of memory",
            {.hint = "--memory and --chunk bound what is used"}};
  } catch (const std::exception& error) {
    return {ooc::ErrorKind::internal, error.what(), {.hint = "please report it with the command"}};
  }
}

namespace {

/// Returns a text of an error without secrets. A secret in the error's path is found even if the
/// path has spaces, which otherwise end a word.
std::string shown(std::string text, const ooc::Error& error) {
  const std::string path = error.details().path.string();
  const std::string shown_path = ooc::detail::shown_word(path);
  if (shown_path != path) {
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
      text.replace(at, path.size(), shown_path);
      at += shown_path.size();
    }
  }
  return ooc::detail::without_secrets(text);
}

}  // namespace

int exit_code_of(ooc::ErrorKind kind) {
  switch (kind) {
    case ooc::ErrorKind::internal: return 1;
    case ooc::ErrorKind::usage: return 2;
    case ooc::ErrorKind::bad_input: return 3;
    case ooc::ErrorKind::input: return 4;
    case ooc::ErrorKind::input_changed: return 5;
    case ooc::ErrorKind::output: return 6;
    case ooc::ErrorKind::memory: return 7;
    case ooc::ErrorKind::device: return 8;
    case ooc::ErrorKind::stalled: return 9;
    case ooc::ErrorKind::verify: return 10;
    case ooc::ErrorKind::interrupted: return 128 + SIGINT;
  }
  return 1;
}

ooc::Error with_hint(const ooc::Error& error, const std::string& hint, std::string_view command) {
  ooc::ErrorDetails details = in_terms_of_options(error, command).details();
  if (!details.hint.empty()) details.hint += "; ";
  details.hint += hint;
  return {error.kind(), error.what(), details};
}

std::string describe_error(const ooc::Error& error) {
  std::string why = error.details().why;
  if (why.empty() && error.kind() == ooc::ErrorKind::internal) why = "this is a bug in ooc-run";
  constexpr std::string_view label = "error:";
  std::string text =
      lines_for_stderr(fmt::format("ooc-run: {} ", label), shown(error.what(), error));
  if (describe_terminal(STDERR_FILENO).colour) {
    text.replace(text.find(label), label.size(), fmt::format("\x1b[1;31m{}\x1b[0m", label));
  }
  if (!why.empty()) text += lines_for_stderr("  why:  ", shown(why, error));
  const std::string hint = in_terms_of_options(error).details().hint;
  if (!hint.empty()) text += lines_for_stderr("  hint: ", shown(hint, error));
  return text;
}

void print_error(const ooc::Error& error) {
  print_to_stderr(describe_error(error));
}

void end_at_once(const ooc::Error& error, std::optional<int> exit_code) {
  // If the disk answers after all, another thread must not print its result.
  if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
  }
  print_error(error);
  _exit(exit_code.value_or(exit_code_of(error.kind())));
}

int report_error(const ooc::Error& error) {
  if (error.kind() == ooc::ErrorKind::device) end_at_once(error);
  print_error(error);
  return exit_code_of(error.kind());
}

}  // namespace ooc_run
