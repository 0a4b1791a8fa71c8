#include "request/run_settings.hpp"

#include <array>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>
#include <string_view>

#include "cli/options.hpp"
#include "cli/sizes.hpp"
#include "request/file_list.hpp"
#include "request/output_file.hpp"

namespace ooc_run {
namespace {

ooc::EngineKind parse_engine(std::string_view text) {
  constexpr std::array kinds{ooc::EngineKind::automatic, ooc::EngineKind::uring,
                             ooc::EngineKind::threads};
  return choose(engine_names, kinds, text);
}

ooc::DirectIo parse_direct(std::string_view text) {
  constexpr std::array ways{ooc::DirectIo::automatic, ooc::DirectIo::yes, ooc::DirectIo::no};
  return choose(direct_names, ways, text);
}

ooc::FileFormat parse_format(std::string_view text) {
  using enum ooc::FileFormat;
  constexpr std::array formats{automatic, npy, npz,  safetensors, zarr, hdf5,  fits, vectors,
                               nifti,     wav, nrrd, metaimage,   envi, sigmf, raw};
  return choose(format_names, formats, text);
}

ProgressMode parse_progress(std::string_view text) {
  constexpr std::array modes{ProgressMode::automatic, ProgressMode::plain, ProgressMode::none};
  return choose(progress_names, modes, text);
}

SideFiles read_side_files(const Arguments& arguments) {
  return {.plot = arguments.get("plot", parse_picture),
          .trace = arguments.get("trace", parse_timeline),
          .report = arguments.get("report", parse_page),
          .replace = arguments.has("force")};
}

}  // namespace

OutputSettings read_output_settings(const Arguments& arguments) {
  OutputSettings output;
  output.json = arguments.has("json");
  output.quiet = arguments.has("quiet");
  output.verbose = arguments.has("verbose");
  output.progress = arguments.get("progress", parse_progress).value_or(output.progress);
  if (output.quiet) output.progress = ProgressMode::none;
  return output;
}

std::optional<ooc::DeviceKind> RunSettings::device_kind() const {
  return devices.empty() ? std::nullopt : std::optional(devices.front().kind);
}

RunSettings read_run_settings(const Arguments& arguments) {
  RunSettings settings;
  settings.command = arguments.command();
  settings.files = read_files(arguments);
  settings.output = read_output_settings(arguments);
  settings.format.type = arguments.get("dtype", ooc::parse_dtype);
  settings.type_word =
      arguments.get("dtype", [](const std::string& word) { return word; }).value_or("");
  settings.format.file = arguments.get("input-format", parse_format).value_or(settings.format.file);
  settings.format.offset = arguments.get("offset", parse_bytes).value_or(0);
  settings.format.skip = arguments.get("skip", parse_count).value_or(0);
  settings.format.count = arguments.get("count", parse_count);
  settings.devices = arguments.get("device", parse_devices).value_or(settings.devices);
  settings.device_word =
      arguments.get("device", [](const std::string& word) { return word; }).value_or("");
  ooc::Options& options = settings.options;
  options.engine = arguments.get("engine", parse_engine).value_or(options.engine);
  options.direct = arguments.get("direct", parse_direct).value_or(options.direct);
  options.chunk_bytes = arguments.get("chunk", positive_bytes).value_or(0);
  options.streams = arguments.get("streams", worker_count).value_or(0);
  options.threads = arguments.get("threads", worker_count).value_or(0);
  options.memory_bytes = arguments.get("memory", positive_bytes).value_or(0);
  options.device_bytes = arguments.get("vram", positive_bytes).value_or(0);
  settings.checksum = arguments.has("checksum");
  settings.verify = arguments.has("verify");
  settings.explain = arguments.has("explain");
  settings.rank_timeout = arguments.get("rank-timeout", positive_seconds);
  ooc::Checkpoint& checkpoint = settings.checkpoint;
  checkpoint.file = arguments.get("resume", parse_output).value_or("");
  checkpoint.every_seconds =
      arguments.get("checkpoint-every", parse_seconds).value_or(checkpoint.every_seconds);
  settings.side_files = read_side_files(arguments);
  return settings;
}

}  // namespace ooc_run
