#include "info/info.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ooc/error.hpp>

#include "dataset/type_doubt.hpp"
#include "info/report.hpp"
#include "run/explanation.hpp"
#include "run/session.hpp"

namespace ooc_run {
namespace {

/// Opens the file from byte `offset` to its end.
ooc::Source data_behind(const std::filesystem::path& path, std::uint64_t offset) {
  return ooc::open(path, {.type = {}, .offset = offset, .count = {}});
}

void guess_what_it_is(const ooc::Format& format, Info& info) {
  if (info.source.bytes() == 0 || !type_is_default(info.source, format)) return;
  const ooc::File& first = info.source.files().front();
  if (format.offset == 0) info.signature = recognise(head_of(first));
  if (!info.signature) {
    info.guess = guess_type(sample_of(info.source), info.source.bytes());
  } else if (const auto offset = info.signature->data_offset; offset && *offset < first.size()) {
    const ooc::Source data = data_behind(first.path(), *offset);
    info.guess = guess_type(sample_of(data), data.bytes());
  }
}

}  // namespace

Outcome run(const InfoRequest& request, const Interrupt& /*interrupt*/) {
  RunSettings settings = request.run;
  settings.format.by_columns = true;  // convert and matmul refuse Fortran order
  Info info{.source = open_source(settings.files, settings),
            .files = {},
            .signature = {},
            .guess = {},
            .readings = {}};
  const ooc::Source& source = info.source;
  if (settings.devices.size() == 1) require_usable(settings.devices);
  info.files = describe_files(source);  // first: reading data changes what is in the page cache
  const bool is_asked_for = settings.format.type || settings.format.offset != 0;
  const bool has_structs = source.type() && source.type()->is_struct();
  const bool is_readable = is_asked_for || std::ranges::all_of(source.files(), holds_numbers);
  if (source.bytes() != 0 && !source.by_columns() && !has_structs && is_readable) {
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
