#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ooc/cuda_facts.hpp>
#include <ooc/io/error.hpp>

#include "commands.hpp"
#include "doctor_checks.hpp"
#include "info_report.hpp"
#include "session.hpp"

namespace ooc_run {
namespace {

/// Whether the type of raw data is merely the one that is taken for want of a better.
bool type_is_default(const ooc::Source& source, const ooc::Format& format) {
  const std::string ending = source.files().front().path().extension();
  return source.format == "raw" && !format.type && !ooc::type_of_ending(ending);
}

/// The part of a source's first file from a byte on.
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

void require_gpu_if_wanted(const RunSettings& settings) {
  if (settings.device != ooc::DeviceKind::cuda) return;
  const std::string why =
      why_not_on_gpu(ooc::cuda_facts(), static_cast<std::size_t>(settings.ordinal));
  if (why.empty()) return;
  throw ooc::Error(ooc::Cause::device, "no usable GPU: " + why,
                   {.hint = "ooc-run doctor says what is missing; or use --device cpu"});
}

Reading plan(std::string_view command, std::size_t passes, const Workload& work,
             const RunSettings& settings, const ooc::Source& source) {
  const DeviceChoice device = choose_device(settings.device, work, machine_rates(settings.options));
  const std::size_t element_bytes = ooc::size_of(source.type().value_or(ooc::DType{}).element);
  Reading reading{command, device,
                  ooc::plan_pass(settings.options, device.kind, source, element_bytes)};
  reading.plan.passes = passes;
  return reading;
}

}  // namespace

Outcome run_info(const Arguments& arguments, const Interrupt& /*interrupt*/) {
  const RunSettings settings = read_run_settings(arguments);
  require_gpu_if_wanted(settings);
  Info info{.source = open_source(arguments, settings),
            .files = {},
            .signature = {},
            .guess = {},
            .readings = {}};
  const ooc::Source& source = info.source;
  info.files = describe_files(source);  // before a look at their data changes anything
  if (source.bytes() != 0) {
    info.readings.push_back(plan("histogram", histogram_passes(source, {}),
                                 histogram_work(source, {}), settings, source));
    info.readings.push_back(plan("reduce", 1, reduce_work(source, {}), settings, source));
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
