#include "info/info.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/sample.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include "info/report.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Opens the file from byte `offset` to its end.
ooc::Source data_behind(const std::filesystem::path& path, std::uint64_t offset) {
  return ooc::detail::open_unjudged({&path, 1}, {.offset = offset});
}

void guess_what_it_is(const ooc::Format& format, Info& info) {
  const ooc::detail::File& first = ooc::detail::files_of(info.source).front();
  if (info.source.bytes() == 0 || info.source.format != "raw") return;
  if (format.offset == 0) info.signature = ooc::detail::signature_of(first);
  if (!ooc::detail::type_is_default(first, format)) return;
  if (!info.signature) {
    info.guess = ooc::detail::guess_type(ooc::detail::sample_of(info.source), info.source.bytes());
  } else if (const auto offset = info.signature->data_offset; offset && *offset < first.size()) {
    const ooc::Source data = data_behind(first.path(), *offset);
    info.guess = ooc::detail::guess_type(ooc::detail::sample_of(data), data.bytes());
  }
}

/// True if other commands would accept the files, judging by their first bytes.
bool is_readable(const ooc::Source& source, const ooc::Format& format) {
  return std::ranges::all_of(ooc::detail::files_of(source), [&](const ooc::detail::File& file) {
    return ooc::detail::holds_numbers(file, format);
  });
}

}  // namespace

Outcome run(const InfoRequest& request, const Interrupt& /*interrupt*/) {
  RunSettings settings = request.run;
  settings.format.by_columns = true;  // convert and matmul refuse Fortran order
  Info info{.source = ooc::detail::open_unjudged(files_of(settings.files), settings.format),
            .files = {},
            .signature = {},
            .guess = {},
            .readings = {}};
  const ooc::Source& source = info.source;
  if (settings.devices.size() == 1) require_usable(settings.devices);
  info.files = describe_files(source);  // first: reading data changes what is in the page cache
  const bool has_structs = source.type() && source.type()->is_struct();
  if (source.bytes() != 0 && !source.by_columns() && !has_structs &&
      is_readable(source, settings.format)) {
    info.readings.push_back({"histogram", explain_histogram(settings, source, {})});
    info.readings.push_back({"reduce", explain_reduce(settings, source, {})});
  }
  guess_what_it_is(settings.format, info);

  Outcome outcome;
  outcome.document =
      settings.output.json
          ? document("info", describe_input(source, settings.format), describe_info(info), nullptr)
          : describe_info(info, describe_terminal(STDOUT_FILENO).columns);
  return outcome;
}

}  // namespace ooc_run
