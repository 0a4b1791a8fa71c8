#include "result/report.hpp"

#include <fmt/core.h>
#include <ooc/detail/dataset/source_access.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "rates/prediction.hpp"

namespace ooc_run {
namespace {

Json describe_stage(const ooc::StageTimes& stage, std::optional<double> bytes) {
  Json json{{"busy_seconds", stage.busy},
            {"waits_in_seconds", stage.waits_in},
            {"waits_out_seconds", stage.waits_out},
            {"bytes_per_second", nullptr}};
  if (stage.busy > 0 && bytes) json["bytes_per_second"] = *bytes / stage.busy;
  return json;
}

/// Returns the share of each device, or null if only one worked.
Json describe_devices(const ooc::Stats& stats) {
  if (stats.devices.empty()) return nullptr;
  Json devices = Json::array();
  for (const ooc::DeviceShare& share : stats.devices) {
    devices.push_back({{"device", share.device},
                       {"streams", share.streams},
                       {"bytes", share.bytes},
                       {"start_seconds", share.start_seconds},
                       {"busy_seconds", share.busy_seconds},
                       {"idle_seconds", share.idle_seconds}});
  }
  return devices;
}

/// Returns the fraction of the bytes that this process (rank 0) has processed.
double own_part(const ooc::Stats& stats) {
  double all = 0;
  for (const ooc::RankShare& share : stats.ranks) all += static_cast<double>(share.bytes);
  return all == 0 ? 1 : static_cast<double>(stats.ranks.front().bytes) / all;
}

/// Returns the share of each rank, or null if the run has no ranks.
Json describe_ranks(const ooc::Stats& stats) {
  if (stats.ranks.empty()) return nullptr;
  Json ranks = Json::array();
  for (const ooc::RankShare& share : stats.ranks) {
    ranks.push_back({{"rank", share.rank},
                     {"host", share.host},
                     {"device", share.device.empty() ? Json(nullptr) : Json(share.device)},
                     {"bytes", share.bytes},
                     {"bytes_written", share.bytes_written},
                     {"start_seconds", share.start_seconds},
                     {"busy_seconds", share.busy_seconds},
                     {"wait_seconds", share.wait_seconds},
                     {"idle_seconds", share.idle_seconds}});
  }
  return ranks;
}

/// Returns `bytes`, a number of bytes over all passes. Empty if a run of several passes was
/// interrupted, since the number is unknown then.
std::optional<double> if_known(double bytes, const ooc::Stats& stats) {
  if (stats.outcome.partial && stats.outcome.passes > 1) return {};
  return bytes;
}

/// Returns the bytes of the source that this run has processed, on average over its passes.
double bytes_done(const ooc::Stats& stats) {
  return static_cast<double>(stats.outcome.bytes) -
         static_cast<double>(stats.outcome.resumed_bytes) /
             static_cast<double>(stats.outcome.passes);
}

/// Returns, for example, ", after 43 % by an earlier run, 2 checkpoints in 18 ms".
std::string describe_checkpoints(const ooc::Stats& stats) {
  std::string text;
  const double share = static_cast<double>(stats.outcome.resumed_bytes) /
                       static_cast<double>(stats.outcome.bytes * stats.outcome.passes);
  if (stats.outcome.resumed_bytes != 0) {
    text += fmt::format(", after {} % by an earlier run", static_cast<int>(100 * share));
  }
  if (stats.outcome.checkpoints != 0) {
    text += fmt::format(", {} in {}", format_count(stats.outcome.checkpoints, "checkpoint"),
                        format_seconds(stats.timing.checkpoint_seconds));
  }
  return text;
}

/// Returns, for example, ", 2 passes, the second from GPU memory".
std::string describe_passes(const ooc::Stats& stats) {
  if (stats.outcome.passes == 1) return {};
  std::string text = fmt::format(", {} passes", stats.outcome.passes);
  if (stats.outcome.resident_bytes == 0) return text;
  const double share =
      static_cast<double>(stats.outcome.resident_bytes) / static_cast<double>(stats.outcome.bytes);
  return text + (share < 1 ? fmt::format(", {:.0f} % of the second from GPU memory", 100 * share)
                           : ", the second from GPU memory");
}

/// Returns how the input was read: "page cache", "direct, io_uring" or "28 % from page cache, rest
/// direct". In the last case, reads are always by threads.
std::string describe_way(const ooc::Stats& stats) {
  constexpr double wholly = 0.99;  // of the input
  const double cached = cached_share(stats);
  if (is_remote(stats)) return "over HTTP";
  if (cached > wholly) return "page cache";
  if (cached > 1 - wholly) {
    return fmt::format("{:.0f} % from page cache, rest {}", 100 * cached,
                       stats.layout.direct ? "direct" : "buffered");
  }
  return fmt::format("{}, {}", stats.layout.direct ? "direct" : "buffered",
                     stats.layout.engine == "uring" ? "io_uring" : stats.layout.engine);
}

double rate_of(const ooc::Stats& stats) {
  return stats.timing.seconds > 0 ? bytes_done(stats) / stats.timing.seconds : 0;
}

}  // namespace

Json describe_input(const ooc::Source& source, const ooc::Format& format) {
  Json files = Json::array();
  for (const ooc::detail::File& file : ooc::detail::files_of(source)) {
    files.push_back({{"path", file.path().string()}, {"bytes", file.size()}});
  }
  if (source.is_produced()) {
    const std::string name = source.name() == "standard input" ? "-" : source.name();
    files.push_back({{"path", name}, {"bytes", source.bytes()}});
  }
  Json shape;
  if (!source.shape().empty()) {
    shape = std::vector<std::uint64_t>(source.shape().begin(), source.shape().end());
  }
  Json input{{"files", files},
             {"format", source.format},
             {"dtype", ooc::code_of(source.type().value_or(ooc::DType{}))},
             {"type_reason", source.type_reason},
             {"shape", shape},
             {"offset", format.offset},
             {"skip", format.skip},
             {"count", source.elements()},
             {"bytes", source.bytes()},
             {"bytes_behind", source.bytes_behind()}};
  const std::string& array = ooc::detail::SourceAccess::array(source);
  if (!array.empty()) input["array"] = array;
  return input;
}

Json describe_inputs(std::string_view command, std::span<const ooc::Source> sources,
                     const ooc::Format& format) {
  if (sources.size() == 1) return describe_input(sources.front(), format);
  if (command == "histogram") {
    Json input = describe_input(sources[0], format);
    input["weights"] = describe_input(sources[1], format);
    return input;
  }
  return {{"x", describe_input(sources[0], format)}, {"y", describe_input(sources[1], format)}};
}

Json describe_run(const ooc::Stats& stats, bool writes, std::span<const std::string> reasons,
                  const std::string& verdict, const Ceilings& ceilings,
                  const std::optional<Prediction>& prediction) {
  // The stages are those of this process.
  const double own = own_part(stats);
  const auto read = if_known(own * bytes_read(stats), stats);
  ooc::StageTimes kernel = stats.timing.kernel;
  const ooc::StageTimes& copies = stats.timing.h2d;
  const bool is_in_place = stats.layout.device == "cpu" && copies.busy == 0;
  if (is_in_place) {  // on a CPU, lanes wait for data instead of copies
    kernel.waits_in += copies.waits_in;
    kernel.waits_out += copies.waits_out;
  }
  Json stages{
      {"disk", describe_stage(stats.timing.disk, read)},
      {"decode", stats.layout.decodes ? describe_stage(stats.timing.decode, read) : Json(nullptr)},
      {"h2d", is_in_place ? Json(nullptr) : describe_stage(copies, read)},
      {"kernel", describe_stage(kernel, if_known(own * bytes_used(stats), stats))},
      {"d2h", nullptr},
      {"write", nullptr}};
  if (writes) {
    const auto bytes_written = static_cast<double>(
        stats.ranks.empty() ? stats.outcome.bytes_written : stats.ranks.front().bytes_written);
    stages["d2h"] = describe_stage(stats.timing.d2h, bytes_written);
    stages["write"] = describe_stage(stats.timing.write, bytes_written);
  }
  return {{"device", stats.layout.device},
          {"devices", describe_devices(stats)},
          {"ranks", describe_ranks(stats)},
          {"engine", stats.layout.engine},
          {"direct", stats.layout.direct},
          {"reasons", std::vector<std::string>(reasons.begin(), reasons.end())},
          {"page_cache_fraction", json_number(stats.layout.page_cache_fraction)},
          {"chunk_bytes", stats.layout.chunk_bytes},
          {"chunks", stats.layout.chunks},
          {"block_bytes", stats.layout.block_bytes},
          {"in_flight", stats.layout.queue_depth},
          {"streams", stats.layout.streams},
          {"threads", stats.layout.threads},
          {"pool_bytes", stats.layout.pool_bytes},
          {"read_ahead_bytes", stats.layout.read_ahead_bytes},
          {"device_bytes", stats.layout.device_bytes},
          {"passes", stats.outcome.passes},
          {"retries", stats.outcome.retries},
          {"stored_bytes", stats.layout.decodes ? Json(stats.outcome.stored_bytes) : Json(nullptr)},
          {"resident_bytes", stats.outcome.resident_bytes},
          {"seconds", stats.timing.seconds},
          {"prediction", describe(prediction)},
          {"startup_seconds", stats.timing.startup_seconds},
          {"device_seconds", stats.timing.device_seconds},
          {"publish_seconds", writes ? Json(stats.timing.commit_seconds) : Json(nullptr)},
          {"bytes_per_second", rate_of(stats)},
          {"stages", stages},
          {"ceilings", describe(ceilings)},
          {"verdict", verdict.empty() ? Json(nullptr) : Json(verdict)}};
}

Json describe_checkpoint(const ooc::Checkpoint& checkpoint, const ooc::Stats& stats) {
  return {{"file", checkpoint.file.string()},
          {"every_seconds", json_number(checkpoint.every_seconds)},
          {"saves", stats.outcome.checkpoints},
          {"seconds", stats.timing.checkpoint_seconds},
          {"resumed_bytes", stats.outcome.resumed_bytes}};
}

void mark_partial(Json& result, const ooc::Stats& stats) {
  if (!stats.outcome.partial) return;
  result["partial"] = true;
  result["covered_bytes"] = stats.outcome.bytes;
}

Document document(std::string_view command, const Json& input, Json result, const Json& run,
                  std::span<const std::string> warnings) {
  Document text("{\"schema\": \"ooc.result/1\",\n \"command\": ");
  append_json(text, std::string(command));
  text.add(",\n \"input\": ");
  append_json(text, input);
  text.add(",\n \"result\": ");
  append_json(text, std::move(result));
  text.add(",\n \"run\": ");
  append_json(text, run);
  text.add(",\n \"warnings\": ");
  append_json(text, std::vector<std::string>(warnings.begin(), warnings.end()));
  text.add("}\n");
  return text;
}

std::string describe_values(std::uint64_t count, const ooc::DType& type) {
  if (type.is_struct())
    return fmt::format("{} {}", format_count(count, "struct"), describe_type(type));
  return fmt::format("{} of {}", format_count(count, "value"), describe_type(type));
}

std::string describe_data(const ooc::Source& source) {
  std::string name = printable(source.name());
  if (ooc::detail::files_of(source).size() > 1)
    name += fmt::format(" and {} more", ooc::detail::files_of(source).size() - 1);
  const ooc::DType type = source.type().value_or(ooc::DType{});
  const std::string values = source.is_produced() && source.bytes() == 0
                                 ? "values of " + describe_type(type)
                                 : describe_values(source.elements(), type);
  return fmt::format("{}: {}", name, values);
}

std::string heading(const ooc::Source& source) {
  return fmt::format("{} ({})", describe_data(source), source.type_reason);
}

std::string headings(std::span<const ooc::Source> sources) {
  std::string text;
  for (const ooc::Source& source : sources) text += (text.empty() ? "" : "\n") + heading(source);
  return text;
}

void note_behind(const ooc::Source& source, Outcome& outcome) {
  if (source.bytes_behind() == 0) return;
  outcome.notes.push_back(fmt::format("{}: {} behind the array, which {} not read", source.name(),
                                      format_count(source.bytes_behind(), "byte"),
                                      source.bytes_behind() == 1 ? "is" : "are"));
}

std::string footer(const ooc::Stats& stats) {
  constexpr double worth_a_word = 0.1;  // of the run
  std::string text = fmt::format("{} in {}", format_decimal_bytes(bytes_done(stats)),
                                 format_seconds(stats.timing.seconds));
  const double lost = std::min(stats.timing.device_seconds, idle_startup_seconds(stats));
  if (lost > worth_a_word * stats.timing.seconds) {
    text += fmt::format(" ({} of it the GPU's start)", format_seconds(lost));
  }
  text += fmt::format(", {}, {}", format_rate(rate_of(stats)),
                      stats.layout.device == "cpu" ? "CPU" : stats.layout.device);
  if (stats.ranks.size() > 1) text += " and " + format_count(stats.ranks.size() - 1, "more rank");
  if (!stats.layout.engine.empty()) text += ", " + describe_way(stats);
  if (stats.layout.is_produced) text += ", as it came";
  return text + describe_passes(stats) + describe_checkpoints(stats);
}

std::string describe_partial(std::span<const ooc::Source> sources, const ooc::Stats& stats) {
  if (!stats.outcome.partial) return {};
  std::uint64_t bytes = 0;
  for (const ooc::Source& source : sources) bytes += source.bytes();
  const bool is_produced = sources.front().is_produced();
  return fmt::format("PARTIAL: interrupted; covers {}{} of {}",
                     stats.layout.in_order ? "the first " : "",
                     format_decimal_bytes(static_cast<double>(stats.outcome.bytes)),
                     is_produced ? printable(sources.front().name())
                                 : format_decimal_bytes(static_cast<double>(bytes)));
}

std::string checksum_line(const ooc::Stats& stats, bool wanted) {
  if (!wanted) return {};
  return fmt::format("\n  checksum  {}\n", stats.outcome.checksum
                                               ? "xxh3-128 " + *stats.outcome.checksum
                                               : "none: it is of all the data, or of nothing");
}

std::string verified_line(const std::optional<double>& seconds) {
  return seconds ? fmt::format("\n  verified  yes: each value by itself, on the CPU, {}\n",
                               format_seconds(*seconds))
                 : "";
}

std::string format_real(double value) {
  return fmt::format("{}", value);
}

std::string format_number(const ooc::Scalar& value) {
  if (const auto* integer = std::get_if<ooc::int128>(&value)) {
    return group_digits(ooc::to_string(*integer));
  }
  if (const auto* real = std::get_if<double>(&value)) return format_real(*real);
  return "-";
}

std::string format_element(const ooc::Scalar& value, ooc::ElementType type) {
  const auto* const real = std::get_if<double>(&value);
  const bool fits_float = is_float(type) && type != ooc::ElementType::f8;
  if (real == nullptr || !fits_float) return format_number(value);
  return fmt::format("{}", static_cast<float>(*real));
}

}  // namespace ooc_run
