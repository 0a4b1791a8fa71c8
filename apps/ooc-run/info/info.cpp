#include "info/info.hpp"

#include <unistd.h>

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

/// Guesses the type of a raw file, if neither the file nor an option gives it.
void guess_type(const ooc::Format& format, Info& info) {
  const ooc::detail::File& first = ooc::detail::files_of(info.source).front();
  if (info.source.bytes() == 0 || !info.source.has_format(ooc::FileFormat::raw) ||
      !ooc::detail::type_is_default(first, format)) {
    return;
  }
  const auto guess_of = [&](const ooc::Source& data) {
    info.guess = ooc::detail::guess_type(ooc::detail::sample_of(data), data.bytes());
  };
  if (!info.signature) {
    guess_of(info.source);
  } else if (const auto offset = info.signature->data_offset; offset && *offset < first.size()) {
    const std::filesystem::path path = first.path();
    guess_of(ooc::detail::open_unjudged({&path, 1}, {.offset = *offset}).source);
  }
}

}  // namespace

Outcome run(const InfoRequest& request, const Interrupt& /*interrupt*/) {
  RunSettings settings = request.run;
  settings.format.by_columns = true;  // convert and matmul refuse Fortran order
  Info info{ooc::detail::open_unjudged(files_of(settings.files), settings.format)};
  const ooc::Source& source = info.source;
  if (settings.devices.size() == 1) require_usable(settings.devices);
  info.files = describe_files(source);  // first: reading data changes what is in the page cache
  const bool has_structs = source.type() && source.type()->is_struct();
  if (source.bytes() != 0 && !source.by_columns() && !has_structs && info.is_readable) {
    info.readings.push_back({"histogram", explain_histogram(settings, source, {})});
    info.readings.push_back({"reduce", explain_reduce(settings, source, {})});
  }
  guess_type(settings.format, info);

  Outcome outcome;
  outcome.document =
      settings.output.json
          ? document("info", describe_input(source, settings.format), describe_info(info), nullptr)
          : describe_info(info, describe_terminal(STDOUT_FILENO).columns);
  return outcome;
}

}  // namespace ooc_run
