#include "run/inputs.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <ooc/detail/dataset/producer.hpp>
#include <ooc/error.hpp>
#include <utility>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "dataset/field_hint.hpp"

namespace ooc_run {
namespace {

/// True for "-", and for /dev/stdin unless it is a regular file or a block device.
bool is_standard_input(const std::string& file) {
  if (file == "-") return true;
  struct stat status {};
  return file == "/dev/stdin" && ::fstat(STDIN_FILENO, &status) == 0 && !S_ISREG(status.st_mode) &&
         !S_ISBLK(status.st_mode);
}

/// Throws Error(usage) for options that are not possible for a stream.
void refuse_of_streams(const RunSettings& settings, const std::string& name) {
  const auto refuse = [&](const std::string& what, const std::string& hint) {
    throw ooc::Error(ooc::ErrorKind::usage, name + ": " + what, {.hint = hint});
  };
  const ooc::Format& format = settings.format;
  const std::string save_it = is_stream(name) ? "save it to a file" : "decompress it";
  if (format.type && format.type->is_struct()) {
    refuse("this command takes elements of one type", "save a field to a file");
  }
  if (settings.explain) {
    refuse("--explain reads no data, and only its data say what a stream is", save_it);
  }
  if (settings.verify) {
    refuse("--verify reads the data again, and a stream can be read once", save_it);
  }
}

/// Throws Error(bad_input) if the files hold structs.
void require_elements(const ooc::Source& source) {
  if (!source.type() || !source.type()->is_struct()) return;
  throw ooc::Error(ooc::ErrorKind::bad_input,
                   fmt::format("{}: holds structs {}", source.name(), ooc::code_of(*source.type())),
                   {.why = "this command takes elements of one type", .hint = field_hint(source)});
}

}  // namespace

bool is_stream(const std::string& file) {
  return is_standard_input(file) || ooc::detail::is_pipe(file);
}

ooc::Source open_input(const RunSettings& settings, const Interrupt& interrupt) {
  if (settings.files.size() != 1 || !is_stream(settings.files.front())) {
    return open_numbers(settings);
  }
  const std::string& name = settings.files.front();
  const bool is_standard = is_standard_input(name);
  refuse_of_streams(settings, name);
  if (is_standard && ::isatty(STDIN_FILENO) != 0) {
    throw ooc::Error(ooc::ErrorKind::usage, name + ": standard input is a terminal",
                     {.hint = "pipe data to it, as in: cat FILE | ooc-run ..."});
  }
  auto stream = is_standard ? ooc::read_descriptor(STDIN_FILENO, "standard input")
                            : ooc::detail::read_pipe(name);
  ooc::Source source = ooc::open(std::move(stream), settings.format, interrupt.token());
  require_elements(source);
  return source;
}

ooc::Source open_numbers(const RunSettings& settings) {
  return open_numbers(settings.files, settings);
}

ooc::Source open_numbers(std::span<const std::string> files, const RunSettings& settings) {
  ooc::Source source = ooc::open(files_of(files), settings.format);
  if (source.is_produced()) refuse_of_streams(settings, source.name());
  require_elements(source);
  return source;
}

ooc::Source open_records(const RunSettings& settings) {
  ooc::Source source = ooc::open(files_of(settings.files), settings.format);
  require_whole_rows(source, settings);
  return source;
}

void require_whole_rows(const ooc::Source& source, const RunSettings& settings) {
  const std::uint64_t columns = source.columns().value_or(1);
  if (columns <= 1 || settings.format.skip % columns == 0) return;
  refuse_usage("--skip does not leave out whole rows",
               fmt::format("each has {} elements: leave out a multiple of that", columns));
}

std::vector<std::filesystem::path> files_of(std::span<const std::string> files) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) {
    if (is_stream(file)) {
      const std::string what = is_standard_input(file) ? "standard input" : "a pipe";
      throw ooc::Error(ooc::ErrorKind::usage,
                       file + (files.size() > 1 ? ": " + what + " cannot be one of several files"
                                                : ": this command cannot read " + what),
                       {.why = "it can be read once, from beginning to end",
                        .hint = file == "-" ? "save it to a file; a file named '-' is './-'"
                                            : "save it to a file"});
    }
    paths.emplace_back(file);
  }
  return paths;
}

std::uint64_t set_columns(ooc::Source& source, const std::optional<std::uint64_t>& wanted) {
  if (source.has_format(ooc::FileFormat::raw)) {
    if (!wanted) {
      throw ooc::Error(ooc::ErrorKind::usage, fmt::format("{}: has no rows", source.name()),
                       {.why = "raw data do not say how long a row is",
                        .hint = "--columns N says how many elements it has"});
    }
    source.set_columns(*wanted);
  }
  if (!source.columns()) {
    throw ooc::Error(ooc::ErrorKind::bad_input,
                     fmt::format("{}: the files have rows of different lengths", source.name()));
  }
  const std::uint64_t columns = *source.columns();
  if (!wanted || *wanted == columns) return columns;
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("--columns {}: {} has rows of {}", *wanted, source.name(),
                               format_count(columns, "element")),
                   {.hint = "leave --columns out"});
}

}  // namespace ooc_run
