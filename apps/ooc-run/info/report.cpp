#include "info/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/sizing/io_config.hpp>
#include <utility>

#include "cli/fact_table.hpp"
#include "cli/sizes.hpp"
#include "cli/type_words.hpp"
#include "info/array_list.hpp"
#include "rates/prediction.hpp"
#include "result/reasons.hpp"

namespace ooc_run {
namespace {

ooc::DType type_of(const Info& info) {
  return info.source.type().value_or(ooc::DType{});
}

bool is_raw(const Info& info) {
  return info.source.has_format(ooc::FileFormat::raw);
}

/// Returns the byte order of elements, or of all fields that have one.
std::string byte_order(const ooc::DType& type) {
  if (type.is_struct()) {
    std::string order = "none";
    for (const ooc::Field& field : type.fields) {
      const std::string own = byte_order({field.element, field.swapped});
      if (own == "none" || own == order) continue;
      order = order == "none" ? own : "mixed";
    }
    return order;
  }
  if (ooc::size_of(type.element) == 1) return "none";
  const bool little = (std::endian::native == std::endian::little) != type.swapped;
  return little ? "little" : "big";
}

/// Returns the options that select a part of the data or set its type.
std::vector<std::string_view> selectors(const Info& info) {
  if (!is_raw(info)) return {"skip", "count"};
  return {"offset", "skip", "count", "dtype"};
}

Json json_disk(const std::optional<BlockDevice>& disk) {
  if (!disk) return nullptr;
  return {{"name", disk->name},
          {"model", disk->model},
          {"rotational", disk->rotational},
          {"block_bytes", disk->block_bytes},
          {"numa_node", disk->numa_node ? Json(*disk->numa_node) : Json(nullptr)}};
}

Json json_text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json json_file(const FileFacts& file) {
  return {{"path", file.path.string()},
          {"bytes", file.bytes},
          {"data_offset", file.data_offset},
          {"data_bytes", file.data_bytes},
          {"aligned", file.is_aligned()},
          {"page_cache_fraction", json_number(file.page_cache_fraction)},
          {"disk_bytes", file.disk_bytes},
          {"holes", file.holes},
          {"extents", file.extents.count ? Json(*file.extents.count) : Json(nullptr)},
          {"why_no_extents", json_text_or_null(file.extents.why_not)},
          {"file_system", file.file_system},
          {"disk", json_disk(file.disk)},
          {"direct", file.why_not_direct.empty()},
          {"why_not_direct", json_text_or_null(file.why_not_direct)}};
}

Json json_guess(const Info& info) {
  if (!info.guess) return nullptr;
  const auto& type = info.guess->type;
  const bool moved = info.signature && info.signature->data_offset;
  return {{"dtype", type ? Json(ooc::code_of(*type)) : Json(nullptr)},
          {"offset", moved ? *info.signature->data_offset : 0},
          {"reason", info.guess->reason}};
}

Json json_reading(const Reading& reading) {
  Json json{{"command", reading.command}};
  json.update(describe(reading.explanation));
  return json;
}

std::string cached_text(std::optional<double> share) {
  constexpr double little = 0.005;
  if (!share) return "the kernel does not tell";
  if (*share <= 0) return "nothing of it";
  if (*share >= 1) return "all of it";
  if (*share < little) return "less than 1 % of it";
  if (*share > 1 - little) return "more than 99 % of it";
  return fmt::format("{:.0f} % of it", *share * 100);
}

/// True if the files have several arrays, of which none is selected.
bool has_all_arrays(const Info& info) {
  return !info.arrays.empty() && ooc::detail::SourceAccess::array(info.source).empty();
}

/// Returns the share of the data in the page cache when the files were described; empty if it is
/// not known.
std::optional<double> cached_share(const Info& info) {
  double cached = 0, bytes = 0;
  for (const FileFacts& file : info.files) {
    if (file.data_bytes == 0) continue;
    if (!file.page_cache_fraction) return {};
    cached += *file.page_cache_fraction * static_cast<double>(file.data_bytes);
    bytes += static_cast<double>(file.data_bytes);
  }
  return bytes == 0 ? std::nullopt : std::optional(cached / bytes);
}

std::string format_text(const Info& info) {
  if (is_raw(info)) return "raw, no header";
  const std::string arrays = format_count(std::max<std::size_t>(info.arrays.size(), 1), "array");
  using enum ooc::FileFormat;
  constexpr std::array titles{std::pair{npz, ".npz"},    std::pair{safetensors, "safetensors"},
                              std::pair{zarr, "Zarr"},   std::pair{hdf5, "HDF5"},
                              std::pair{fits, "FITS"},   std::pair{vectors, "vectors"},
                              std::pair{nifti, "NIfTI"}, std::pair{wav, "WAV"},
                              std::pair{nrrd, "NRRD"},   std::pair{metaimage, "MetaImage"},
                              std::pair{envi, "ENVI"},   std::pair{sigmf, "SigMF"}};
  for (const auto& [format, title] : titles) {
    if (info.source.has_format(format)) return title + (", " + arrays);
  }
  if (!info.source.has_format(ooc::FileFormat::npy)) return "several";
  const std::string& version = info.source.format_version;
  return (version.empty() ? ".npy of several versions" : ".npy, version " + version) +
         (info.source.by_columns() ? ", column by column (Fortran order)"
                                   : ", row by row (C order)");
}

std::string type_text(const Info& info) {
  const ooc::DType type = type_of(info);
  if (type.is_struct()) {
    return fmt::format("struct of {} {}", format_count(type.struct_bytes, "byte"),
                       ooc::code_of(type));
  }
  const std::string order = byte_order(type);
  return fmt::format("{}, {}{}", ooc::name_of(type.element),
                     format_count(ooc::size_of(type.element), "byte"),
                     order == "none" ? "" : " each, " + order + "-endian");
}

std::string guess_text(const Info& info) {
  const ooc::detail::TypeGuess& guess = *info.guess;
  if (!guess.type) return guess.reason;
  const bool moved = info.signature && info.signature->data_offset;
  return fmt::format("probably {}{}; use --dtype {}{} ({})",
                     guess.type->swapped ? byte_order(*guess.type) + "-endian " : "",
                     ooc::name_of(guess.type->element), dtype_word(*guess.type),
                     moved ? fmt::format(" --offset {}", *info.signature->data_offset) : "",
                     guess.reason);
}

std::string data_text(const FileFacts& file) {
  if (file.data_bytes == 0) return "none";
  const std::string text =
      file.data_offset == 0 ? "from the first byte" : fmt::format("from byte {}", file.data_offset);
  if (!file.why_not_direct.empty()) return text;
  if (file.is_aligned()) return text + ", where direct reads can begin";
  return text + ", so direct reads begin a little before, at a multiple of 4096";
}

std::string layout_text(const FileFacts& file) {
  std::string text = file.extents.count ? format_count(*file.extents.count, "extent")
                                        : "extents not known: " + file.extents.why_not;
  if (file.holes) {
    text += fmt::format(", with holes: {} of {} lie on the disk, the rest reads as zeros",
                        format_decimal_bytes(static_cast<double>(file.disk_bytes)),
                        format_decimal_bytes(static_cast<double>(file.bytes)));
  }
  return text;
}

std::string disk_text(const FileFacts& file) {
  return file.disk ? describe(*file.disk) : "not known: the file system shows none of its own";
}

std::string direct_text(const FileFacts& file) {
  return file.why_not_direct.empty() ? "possible" : "not possible: " + file.why_not_direct;
}

std::string selectors_text(const Info& info) {
  return is_raw(info) ? "--offset BYTES, --skip N, --count N, --dtype TYPE" : "--skip N, --count N";
}

/// Describes the readers. Threads that compute and threads that only read are counted together,
/// unless there are more threads than cores: then most of them only wait for the disk.
std::string readers_text(const ooc::Stats& pass) {
  if (pass.layout.engine == "uring") return "io_uring";
  if (is_remote(pass)) return "HTTP";
  if (pass.layout.reads_inline || pass.layout.threads <= ooc::detail::usable_cores()) {
    return format_count(pass.layout.threads, "thread");
  }
  return fmt::format("{} and {} that read", format_count(pass.layout.streams, "thread"),
                     pass.layout.threads - pass.layout.streams);
}

std::string reading_text(const Reading& reading) {
  const ooc::Stats& pass = reading.explanation.pass;
  return fmt::format(
      "{}, {}, {}, {} x {}, {} in flight{}",
      reading.explanation.device.kind() == ooc::DeviceKind::cuda ? "GPU" : "CPU",
      readers_text(pass),
      is_remote(pass)      ? "ranges"
      : pass.layout.direct ? "direct"
                           : "page cache",
      group_digits(std::to_string(pass.layout.chunks)),
      format_binary_bytes(pass.layout.chunk_bytes), pass.layout.queue_depth,
      pass.outcome.passes > 1 ? fmt::format(", {} passes", pass.outcome.passes) : "");
}

/// Returns the reasons of all readings without duplicates: commands share most of their reasons.
std::vector<std::string> reasons_of(const Info& info) {
  std::vector<std::string> reasons;
  const auto add = [&reasons](const std::string& reason) {
    if (reason.empty() || std::ranges::find(reasons, reason) != reasons.end()) return;
    reasons.push_back(reason);
  };
  const Reading* before = nullptr;
  for (const Reading& reading : info.readings) {
    const std::string& why = reading.explanation.device.reason;
    const bool same =
        before != nullptr && before->explanation.device.kind() == reading.explanation.device.kind();
    if (!same && !why.empty()) add(fmt::format("{}: {}", reading.command, why));
    before = &reading;
  }
  for (const Reading& reading : info.readings) {
    for (const ooc::Reason& reason : reading.explanation.pass.layout.reasons) {
      add(sentence_of(reason));
    }
  }
  return reasons;
}

std::string list_of_files(const Info& info) {
  constexpr std::size_t most_files = 20;
  std::string text = fmt::format("\n  {:>10}  {:>7}  {:>8}  {:<6}  {}\n", "size", "cached",
                                 "extents", "direct", "file");
  for (std::size_t i = 0; i < std::min(info.files.size(), most_files); ++i) {
    const FileFacts& file = info.files[i];
    const auto& cached = file.page_cache_fraction;
    const auto& extents = file.extents.count;
    text += fmt::format("  {:>10}  {:>7}  {:>8}  {:<6}  {}\n",
                        format_decimal_bytes(static_cast<double>(file.data_bytes)),
                        cached ? fmt::format("{:.0f} %", *cached * 100) : "-",
                        extents ? group_digits(std::to_string(*extents)) : "-",
                        file.why_not_direct.empty() ? "yes" : "no", printable(file.path.string()));
  }
  if (info.files.size() > most_files) {
    text += fmt::format("  and {} more\n", info.files.size() - most_files);
  }
  return text;
}

std::vector<FactRow> rows_of_data(const Info& info) {
  std::vector<FactRow> rows{{"format", format_text(info)}};
  if (info.signature) {
    std::string text = "begins like " + info.signature->name;
    if (!info.signature->hint.empty()) text += ": " + info.signature->hint;
    if (info.signature->data_offset) {
      text += fmt::format(", whose numbers begin at byte {}", *info.signature->data_offset);
    }
    rows.push_back({"but", text});
  }
  if (info.source.by_columns()) {
    rows.push_back(
        {"but", "only reduce and histogram read it; others say how to save it row by row"});
  }
  if (type_of(info).is_struct()) {
    rows.push_back({"but", "other commands refuse it, and say how to save one field"});
  }
  if (has_all_arrays(info)) {
    rows.push_back({"but", "other commands read one array: FILE::NAME"});
    rows.push_back({"size", format_bytes(info.source.bytes())});
    return rows;
  }
  rows.push_back({"type", type_text(info)});
  if (info.guess) rows.push_back({"looks like", guess_text(info)});
  if (!info.source.shape().empty()) rows.push_back({"shape", shape_text(info.source.shape())});
  rows.push_back({"size", format_bytes(info.source.bytes())});
  if (info.source.bytes_behind() != 0) {
    rows.push_back({"behind it", format_bytes(info.source.bytes_behind()) + ", not read"});
  }
  if (!info.source.by_columns()) rows.push_back({"a part by", selectors_text(info)});
  return rows;
}

/// Describes where the file is stored. Of several files, only the first is described, since they
/// are usually in one directory.
std::vector<FactRow> rows_of_place(const Info& info) {
  const FileFacts& first = info.files.front();
  std::vector<FactRow> rows;
  if (first.is_remote) return {{"on", first.file_system}};
  if (info.files.size() == 1) {
    rows.push_back({"data", data_text(first)});
    rows.push_back({"in memory", cached_text(first.page_cache_fraction)});
    rows.push_back({"layout", layout_text(first)});
  } else {
    rows.push_back({"in memory", cached_text(cached_share(info))});
  }
  rows.push_back({"on", first.file_system});
  rows.push_back({"disk", disk_text(first)});
  if (info.files.size() == 1) rows.push_back({"direct I/O", direct_text(first)});
  return rows;
}

std::vector<FactRow> rows_of_readings(const Info& info) {
  std::vector<FactRow> rows;
  for (const Reading& reading : info.readings)
    rows.push_back({reading.command, reading_text(reading)});
  std::string_view label = "because";
  for (std::string& reason : reasons_of(info)) {
    rows.push_back({label, std::move(reason)});
    label = "and";
  }
  return rows;
}

}  // namespace

Json describe_info(const Info& info) {
  Json files = Json::array(), readings = Json::array();
  for (const FileFacts& file : info.files) files.push_back(json_file(file));
  for (const Reading& reading : info.readings) readings.push_back(json_reading(reading));
  return {{"format_version", json_text_or_null(info.source.format_version)},
          {"fortran_order", info.source.by_columns()},
          {"byte_order", byte_order(type_of(info))},
          {"element_bytes", ooc::size_of(type_of(info))},
          {"page_cache_fraction", json_number(cached_share(info))},
          {"selectors", selectors(info)},
          {"signature", info.signature ? Json(info.signature->name) : Json(nullptr)},
          {"guess", json_guess(info)},
          {"arrays", describe_arrays(info.arrays)},
          {"files", files},
          {"readings", readings}};
}

std::string describe_info(const Info& info, std::size_t columns) {
  std::string text = heading(info.source) + "\n\n" + fact_table(rows_of_data(info), columns) +
                     "\n" + fact_table(rows_of_place(info), columns);
  if (info.files.size() > 1) text += list_of_files(info);
  if (has_all_arrays(info)) text += list_of_arrays(info.arrays);
  if (!info.readings.empty()) {
    text +=
        "\nAs things are, this would be read by\n" + fact_table(rows_of_readings(info), columns);
  }
  return text;
}

}  // namespace ooc_run
