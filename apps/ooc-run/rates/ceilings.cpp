#include "rates/ceilings.hpp"

#include <cmath>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <ooc/detail/base/text_file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <span>
#include <system_error>

#include "machine/environment.hpp"

namespace ooc_run {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "ooc.ceilings/1";
constexpr std::uintmax_t most_file_bytes = 1 << 20;  // ignore larger files
constexpr std::size_t most_entries = 100;            // per list; the oldest entry is dropped

/// Returns a rate or a time. Empty unless it is a positive finite number.
std::optional<double> figure_in(const Json& entry, const std::string& key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_number()) return {};
  const double figure = found->get<double>();
  if (!std::isfinite(figure) || figure <= 0) return {};
  return figure;
}

/// Returns the contents of the file. An empty object if it cannot be read or has another schema.
Json read_file(const std::filesystem::path& path) {
  std::error_code none;
  const bool plain = std::filesystem::is_regular_file(path, none);
  if (!plain || std::filesystem::file_size(path, none) > most_file_bytes) return Json::object();
  Json json = Json::parse(ooc::detail::read_text(path), nullptr, false);
  const bool ours = json.is_object() && json.contains("schema") && json["schema"] == schema;
  return ours ? json : Json::object();
}

/// Returns the first entry of a list that has all keys and values of `key`, or null.
const Json* find(const Json& json, const char* list, const Json& key) {
  const auto entries = json.find(list);
  if (entries == json.end() || !entries->is_array()) return nullptr;
  for (const Json& entry : *entries) {
    bool same = entry.is_object();
    for (const auto& [name, value] : key.items()) {
      same = same && entry.contains(name) && entry[name] == value;
    }
    if (same) return &entry;
  }
  return nullptr;
}

/// Removes the entry with this key and appends a new one with today's date.
void replace(Json& json, const char* list, const Json& key, const Json& rates) {
  Json entries = Json::array();
  const Json* const old = find(json, list, key);
  if (json.contains(list) && json[list].is_array()) {
    for (const Json& entry : json[list]) {
      if (&entry != old) entries.push_back(entry);
    }
  }
  if (entries.size() >= most_entries) entries.erase(entries.begin());
  Json entry = key;
  entry["date"] = today();
  entry.update(rates);
  entries.push_back(entry);
  json[list] = entries;
}

Json disk_key(const CeilingsOf& subject) {
  return {{"machine", machine_name()}, {"file_system", file_system_of(subject.file)}};
}
Json machine_key() {
  return {{"machine", machine_name()}};
}
Json device_key(const CeilingsOf& subject) {
  return {{"machine", machine_name()}, {"device", subject.device}};
}

Ceilings find_ceilings(const Json& json, const CeilingsOf& wanted) {
  Ceilings ceilings;
  if (const Json* disk = find(json, "disks", disk_key(wanted))) {
    ceilings.disk = figure_in(*disk, "disk_bytes_per_second");
  }
  if (const Json* machine = find(json, "machines", machine_key())) {
    ceilings.page_cache = figure_in(*machine, "page_cache_bytes_per_second");
  }
  if (const Json* device = find(json, "devices", device_key(wanted))) {
    ceilings.h2d = figure_in(*device, "h2d_bytes_per_second");
    ceilings.d2h = figure_in(*device, "d2h_bytes_per_second");
    ceilings.start_seconds = figure_in(*device, "start_seconds");
    const auto kernels = device->find("kernels_bytes_per_second");
    if (kernels != device->end()) ceilings.kernel = figure_in(*kernels, wanted.kernel);
  }
  return ceilings;
}

/// Returns the ceilings with these names, as in the file. Unmeasured ones are missing.
Json only(const Ceilings& ceilings, std::initializer_list<const char*> names) {
  const Json all = describe(ceilings);
  Json some = Json::object();
  for (const char* name : names) {
    if (all.contains(name)) some[name] = all[name];
  }
  return some;
}

}  // namespace

nlohmann::ordered_json describe(const Ceilings& ceilings) {
  Json json = Json::object();
  const auto add = [&json](const char* name, std::optional<double> figure) {
    if (figure) json[name] = *figure;
  };
  add("disk_bytes_per_second", ceilings.disk);
  add("page_cache_bytes_per_second", ceilings.page_cache);
  add("h2d_bytes_per_second", ceilings.h2d);
  add("d2h_bytes_per_second", ceilings.d2h);
  add("kernel_bytes_per_second", ceilings.kernel);
  add("start_seconds", ceilings.start_seconds);
  return json;
}

std::string kernel_name(std::string_view command, std::string_view dtype) {
  // Data in the other byte order are swapped first. That kernel is not measured.
  if (dtype.size() < 2 || dtype.front() == '>') return {};
  return std::string(command) + " " + std::string(dtype.substr(1));
}

std::filesystem::path ceilings_path() {
  std::filesystem::path directory;
  if (const char* cache = std::getenv("XDG_CACHE_HOME")) directory = cache;
  if (!directory.is_absolute()) {  // the XDG specification says to ignore relative paths
    const char* const home = std::getenv("HOME");
    if (home == nullptr || *home != '/') return {};
    directory = std::filesystem::path(home) / ".cache";
  }
  return directory / "ooc" / "ceilings.json";
}

Ceilings read_ceilings(const CeilingsOf& wanted) noexcept {
  try {
    const std::filesystem::path path = ceilings_path();
    if (path.empty()) return {};
    const Json json = read_file(path);
    return json.empty() ? Ceilings{} : find_ceilings(json, wanted);
  } catch (const std::exception&) {
    return {};  // treat a broken file as missing
  }
}

std::string why_no_ceilings() {
  try {
    const std::filesystem::path path = ceilings_path();
    std::error_code none;
    if (path.empty() || !std::filesystem::exists(path, none)) return {};
    return read_file(path).empty() ? path.string() + " is not understood" : "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

void write_ceilings(const CeilingsOf& subject, const MeasuredCeilings& measured) {
  const std::filesystem::path path = ceilings_path();
  if (path.empty()) {
    throw ooc::Error(ooc::ErrorKind::output, "no place to keep ceilings",
                     {.hint = "set HOME or XDG_CACHE_HOME"});
  }
  Json json = read_file(path);
  json["schema"] = schema;
  const Ceilings& stages = measured.stages;
  if (stages.disk) {
    replace(json, "disks", disk_key(subject), only(stages, {"disk_bytes_per_second"}));
  }
  if (stages.page_cache) {
    replace(json, "machines", machine_key(), only(stages, {"page_cache_bytes_per_second"}));
  }
  Json device = only(stages, {"h2d_bytes_per_second", "d2h_bytes_per_second", "start_seconds"});
  device["kernels_bytes_per_second"] = measured.kernels;
  replace(json, "devices", device_key(subject), device);

  std::error_code failure;
  std::filesystem::create_directories(path.parent_path(), failure);
  if (failure) {
    throw ooc::Error::from_errno(ooc::ErrorKind::output, "make directory", failure.value(),
                                 path.parent_path());
  }
  const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  ooc::detail::OutputFile file(path, text.size(), true);
  file.write(0, std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace ooc_run
