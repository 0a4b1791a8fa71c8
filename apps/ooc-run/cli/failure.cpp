#include "cli/failure.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

#include "cli/terminal.hpp"

namespace ooc_run {

void refuse_usage(const std::string& message, const std::string& hint) {
  throw ooc::Error(ooc::Cause::usage, message, {.hint = hint});
}

ooc::Error current_error() {
  try {
    throw;
  } catch (const ooc::Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {
        ooc::Cause::memory, "out of memory", {.hint = "--memory and --chunk bound what is used"}};
  } catch (const std::exception& error) {
    return {ooc::Cause::internal, error.what(), {.hint = "please report it with the command"}};
  }
}

int exit_code_of(ooc::Cause cause) {
  switch (cause) {
    case ooc::Cause::internal: return 1;
    case ooc::Cause::usage: return 2;
    case ooc::Cause::bad_input: return 3;
    case ooc::Cause::input: return 4;
    case ooc::Cause::input_changed: return 5;
    case ooc::Cause::output: return 6;
    case ooc::Cause::memory: return 7;
    case ooc::Cause::device: return 8;
    case ooc::Cause::stalled: return 9;
    case ooc::Cause::verify: return 10;
    case ooc::Cause::interrupted: return 128 + SIGINT;
  }
  return 1;
}

ooc::Error with_hint(const ooc::Error& error, const std::string& hint) {
  ooc::ErrorDetails details = error.details();
  if (!details.hint.empty()) details.hint += "; ";
  details.hint += hint;
  return {error.cause(), error.what(), details};
}

void print_error(const ooc::Error& error) {
  std::string why = error.details().why;
  if (why.empty() && error.cause() == ooc::Cause::internal) why = "this is a bug in ooc-run";
  const bool colour = describe_terminal(STDERR_FILENO).colour;
  std::string text = fmt::format("ooc-run: {}error:{} {}\n", colour ? "\x1b[1;31m" : "",
                                 colour ? "\x1b[0m" : "", printable(error.what()));
  if (!why.empty()) text += lines_for_stderr("  why:  ", why);
  const std::string& hint = error.details().hint;
  if (!hint.empty()) text += lines_for_stderr("  hint: ", hint);
  print_to_stderr(text);
}

void end_at_once(const ooc::Error& error) {
  print_error(error);
  _exit(exit_code_of(error.cause()));
}

int report_error(const ooc::Error& error) {
  if (error.cause() == ooc::Cause::device) end_at_once(error);
  print_error(error);
  return exit_code_of(error.cause());
}

}  // namespace ooc_run
