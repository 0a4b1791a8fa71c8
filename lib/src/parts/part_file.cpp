#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/parts/part_file.hpp>

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/http/remote_object.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "checksum/xxh3.hpp"
#include "json/json_text.hpp"
#include "parts/part_json.hpp"

namespace ooc {

using namespace detail;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view magic = "OOCPART\n";
constexpr std::string_view schema = "ooc.partial/2";
constexpr std::size_t hash_bytes = sizeof(XXH128_canonical_t);
constexpr std::uint64_t most_header_bytes = 64 * MiB;

// The hash of a file is that of both ends, and of pages at even distances.
constexpr std::uint64_t hashed_ends = 64 * KiB, hashed_pages = 64;

std::vector<std::byte> read_range(const File& file, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes));
  read_exactly(file, offset, memory);
  return memory;
}

XXH128_canonical_t hash_of(std::span<const std::byte> bytes) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data(), bytes.size()));
  return hash;
}

Json parsed(const std::string& text, const std::string& member) {
  if (!Json::accept(text)) {
    throw Error(ErrorKind::usage, "PartFile::" + member + " is not JSON",
                {.hint = "a text is JSON in quotation marks"});
  }
  require_plain_json(text);
  return Json::parse(text);
}

/// Returns the operator and the size of each saved result.
Json listed(std::span<const std::vector<std::byte>> saved) {
  Json list = Json::array();
  for (const std::vector<std::byte>& part : saved) {
    ByteReader bytes(part);
    list.push_back({{"operator", take_text(bytes)}, {"bytes", std::to_string(part.size())}});
  }
  return list;
}

/// Takes the saved results of which the header has this list.
std::vector<std::vector<std::byte>> take_listed(std::string_view list, ByteReader& payloads) {
  std::vector<std::vector<std::byte>> saved;
  for_each_element(list, [&](const Json& part) {
    const auto bytes = payloads.take_bytes(integer_in<std::uint64_t>(part.at("bytes")));
    saved.emplace_back(bytes.begin(), bytes.end());
  });
  return saved;
}

std::string header_of(const PartFile& file) {
  if (file.parts.empty()) throw Error(ErrorKind::usage, "a PartFile has no part: add() adds one");
  Json input = Json::array(), covers = Json::array();
  for (const FileIdentity& identity : file.input) input.push_back(json_of(identity));
  for (const RecordRange& range : file.covers) {
    covers.push_back({std::to_string(range.first), std::to_string(range.end())});
  }
  const Json header{{"schema", schema},
                    {"question", parsed(file.question, "question")},
                    {"input", std::move(input)},
                    {"records", std::to_string(file.records)},
                    {"covers", std::move(covers)},
                    {"earlier", listed(file.earlier)},
                    {"payload", listed(file.parts)},
                    {"about", parsed(file.about, "about")}};
  std::string text = header.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() <= most_header_bytes) return text;
  throw Error(ErrorKind::usage,
              "the header of a part would have " + std::to_string(text.size()) + " bytes",
              {.why = "at most " + std::to_string(most_header_bytes) + " are read"});
}

void read_header(std::string_view header, ByteReader& payloads, PartFile& file) {
  file.question = member_of(header, "question");
  file.about = member_of(header, "about");
  for_each_element(member_of(header, "input"),
                   [&](const Json& identity) { file.input.push_back(identity_in(identity)); });
  file.records = integer_in<std::uint64_t>(Json::parse(member_of(header, "records")));
  for_each_element(member_of(header, "covers"), [&](const Json& range) {
    const auto first = integer_in<std::uint64_t>(range.at(0));
    const auto end = integer_in<std::uint64_t>(range.at(1));
    if (end <= first || end > file.records || range.size() != 2 ||
        (!file.covers.empty() && first < file.covers.back().end())) {
      throw Error(ErrorKind::bad_input, "covers records that are not there");
    }
    file.covers.push_back({first, end - first});
  });
  file.earlier = take_listed(member_of(header, "earlier"), payloads);
  file.parts = take_listed(member_of(header, "payload"), payloads);
  if (file.parts.empty()) throw Error(ErrorKind::bad_input, "has no answer");
}

/// Parses all but the hash.
PartFile parse(ByteReader& bytes) {
  bytes.take_bytes(magic.size());
  const auto length = bytes.take<std::uint64_t>();
  if (length > most_header_bytes) throw Error(ErrorKind::bad_input, "its header is too long");
  const auto text = bytes.take_bytes(length);
  const std::string_view header{reinterpret_cast<const char*>(text.data()), text.size()};
  require_plain_json(header);
  const auto version = Json::parse(member_of(header, "schema")).get<std::string>();
  if (version != schema) {
    throw Error(ErrorKind::usage, "has the format " + version,
                {.why = "this version reads " + std::string(schema),
                 .hint = "read it with the version of ooc-run that wrote it"});
  }
  PartFile file;
  read_header(header, bytes, file);
  bytes.require_end();
  return file;
}

Error damaged(const std::filesystem::path& path, const std::string& why) {
  return {ErrorKind::bad_input,
          path.string() + ": is damaged",
          {.path = path, .why = why, .hint = "compute it once more"}};
}

Error no_part(const std::filesystem::path& path) {
  return {ErrorKind::bad_input,
          path.string() + ": is not a part",
          {.path = path, .why = "a part begins with OOCPART"}};
}

bool has_magic(std::span<const std::byte> bytes) {
  const auto begin = std::as_bytes(std::span(magic));
  return bytes.size() >= begin.size() && std::ranges::equal(bytes.first(begin.size()), begin);
}

std::string file_name(const FileIdentity& file) {
  return std::filesystem::path(file.name).filename().string();
}

std::string ranges_text(std::span<const RecordRange> ranges) {
  std::string text;
  for (const RecordRange& range : ranges) {
    text += (text.empty() ? "" : ", ") + std::to_string(range.first) + " to " +
            std::to_string(range.end());
  }
  return text.empty() ? "none" : text;
}

/// Returns what differs between two questions: "/command is \"reduce\" and \"histogram\"".
std::string difference_of(const Json& one, const Json& other) {
  const Json mine = one.flatten(), others = other.flatten();
  std::string text;
  const auto add = [&](const std::string& key, const std::string& a, const std::string& b) {
    text += (text.empty() ? "" : ", ") + key + " is " + a + " and " + b;
  };
  for (const auto& [key, value] : mine.items()) {
    if (!others.contains(key)) {
      add(key, value.dump(), "not there");
    } else if (others.at(key) != value) {
      add(key, value.dump(), others.at(key).dump());
    }
  }
  for (const auto& [key, value] : others.items()) {
    if (!mine.contains(key)) add(key, "not there", value.dump());
  }
  constexpr std::size_t most = 400;  // characters: edges may be many
  return text.size() <= most ? text : text.substr(0, most) + " ...";
}

}  // namespace

std::vector<FileIdentity> identity_of(const Source& source) {
  std::vector<FileIdentity> files;
  for (const File& file : files_of(source)) files.push_back(identity_of(file));
  return files;
}

FileIdentity detail::identity_of(const File& file) {
  std::vector<std::byte> bytes;
  const auto identity = [&] {
    return FileIdentity{.name = file.path().string(),
                        .bytes = file.size(),
                        .modified_ns = file.modified_ns(),
                        .hash = xxh3_64(bytes)};
  };
  if (file.is_unopened()) {
    append_bytes(bytes, file.size());
    append_bytes(bytes, file.modified_ns());
    return identity();
  }
  const auto add = [&](std::uint64_t offset, std::uint64_t most) {
    append_span(bytes, read_range(file, offset, std::min(most, file.size() - offset)));
  };
  if (const EncodedArray* const array = file.encoded()) {
    for (const File& stored : array->files()) append_bytes(bytes, identity_of(stored).hash);
    const std::string fingerprint = array->fingerprint();
    append_span(bytes, std::as_bytes(std::span(fingerprint)));
    return identity();
  }
  if (const RemoteObject* const object = file.remote()) {
    const std::string fingerprint = object->fingerprint();
    append_span(bytes, std::as_bytes(std::span(fingerprint)));
    // An exact version identifies the object without many requests for its bytes. The query of an
    // address is not kept, so this fails if the query selects the object.
    const bool is_one = object->address().url.find('?') == std::string::npos;
    if (is_one && object->version().is_exact()) return identity();
  }
  add(0, hashed_ends);
  for (std::uint64_t i = 1; i < hashed_pages; ++i) {
    add(round_down(file.size() / hashed_pages * i, page_bytes), page_bytes);
  }
  add(file.size() - std::min(file.size(), hashed_ends), hashed_ends);
  return identity();
}

void detail::add_part(PartFile& file, std::uint64_t records, std::span<const RecordRange> ranges,
                      std::vector<std::byte> saved) {
  if (file.parts.empty()) {
    file.records = records;
    file.covers.assign(ranges.begin(), ranges.end());
  } else if (file.records != records || !std::ranges::equal(file.covers, ranges)) {
    throw Error(ErrorKind::usage,
                "a part covers the records " + ranges_text(ranges) + ", the others " +
                    ranges_text(file.covers),
                {.why = "the parts in a file are of one section"});
  }
  file.parts.push_back(std::move(saved));
}

std::span<const std::byte> detail::saved_part(const PartFile& file, std::size_t index) {
  if (index < file.parts.size()) return file.parts[index];
  throw Error(ErrorKind::bad_input, "does not answer all of its question");
}

void detail::require_covers(const PartFile& file, std::uint64_t records,
                            std::span<const RecordRange> ranges) {
  if (records == file.records && std::ranges::equal(ranges, file.covers)) return;
  throw Error(ErrorKind::bad_input, "covers other records than it says");
}

std::vector<std::byte> detail::bytes_of(const PartFile& file) {
  const std::string header = header_of(file);
  std::vector<std::byte> out;
  append_span(out, std::as_bytes(std::span(magic)));
  append_text(out, header);
  for (const std::vector<std::byte>& found : file.earlier) append_span(out, found);
  for (const std::vector<std::byte>& part : file.parts) append_span(out, part);
  append_bytes(out, hash_of(out));
  return out;
}

void write_part_file(const std::filesystem::path& path, const PartFile& file, bool replace) {
  const std::vector<std::byte> bytes = bytes_of(file);
  OutputFile out(path, bytes.size(), replace);
  out.write(0, bytes);
  out.commit();
}

FileLock detail::write_locked(const std::filesystem::path& path, const PartFile& file,
                              bool replace) {
  const std::vector<std::byte> bytes = bytes_of(file);
  OutputFile out(path, bytes.size(), replace);
  out.write(0, bytes);
  FileLock lock(out.buffered());
  try {
    out.commit();
  } catch (const Error&) {
    out.drop();  // the run goes on without it, or ends
    throw;
  }
  return lock;
}

PartFile read_part_file(const std::filesystem::path& path) {
  const File file = File::open(path);
  // The beginning alone first: another file may be large.
  const std::vector<std::byte> begin =
      read_range(file, 0, std::min<std::uint64_t>(file.size(), magic.size()));
  if (!has_magic(begin)) throw no_part(path);
  return part_file_in(read_range(file, 0, file.size()), path);
}

PartFile detail::part_file_in(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  if (!has_magic(bytes)) throw no_part(path);
  if (bytes.size() < magic.size() + hash_bytes) throw damaged(path, "it ends too early");
  const std::span<const std::byte> hashed = bytes.first(bytes.size() - hash_bytes);
  const XXH128_canonical_t hash = hash_of(hashed);
  if (std::memcmp(&hash, bytes.last(hash_bytes).data(), hash_bytes) != 0) {
    throw damaged(path, "its checksum is not that of its bytes");
  }
  try {
    ByteReader reader(hashed);
    return parse(reader);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_input) throw damaged(path, error.what());
    ErrorDetails details = error.details();
    details.path = path;
    throw Error(error.kind(), path.string() + ": " + error.what(), details);
  } catch (const Json::exception& error) {
    throw damaged(path, error.what());
  }
}

std::string difference_of_data(const PartFile& one, const PartFile& other, bool ignore_times) {
  if (one.input.size() != other.input.size() || one.records != other.records) {
    return std::to_string(one.records) + " and " + std::to_string(other.records) + " records in " +
           std::to_string(one.input.size()) + " and " + std::to_string(other.input.size()) +
           " files";
  }
  for (std::size_t i = 0; i < one.input.size(); ++i) {
    const FileIdentity &a = one.input[i], &b = other.input[i];
    // Of several files, the order counts. One file may have any name, since it may be a copy.
    if (one.input.size() > 1 && file_name(a) != file_name(b)) {
      return a.name + " and " + b.name + " are at the same place: the order of files counts";
    }
    if (a.bytes != b.bytes) {
      return a.name + " had " + std::to_string(a.bytes) + " bytes, then " + std::to_string(b.bytes);
    }
    if (a.hash != b.hash) return a.name + " has other bytes";
    if (a.modified_ns != b.modified_ns && !ignore_times) {
      return a.name + " and " + b.name + " have other times of the last write";
    }
  }
  return {};
}

void require_same_data(const PartFile& one, const std::filesystem::path& path,
                       const PartFile& other, const std::filesystem::path& other_path,
                       bool ignore_times) {
  const std::string both = path.string() + " and " + other_path.string();
  const auto refuse = [&] {
    const Json question = Json::parse(one.question), asked = Json::parse(other.question);
    if (question == asked) return;
    throw Error(ErrorKind::usage, both + ": are parts of different questions",
                {.why = difference_of(question, asked)});
  };
  if (one.question != other.question) refuse();
  if (std::string why = difference_of_data(one, other, ignore_times); !why.empty()) {
    throw Error(ErrorKind::input_changed, both + ": are parts of different data",
                {.why = std::move(why)});
  }
  if (one.earlier == other.earlier) return;
  throw Error(ErrorKind::usage, both + ": are parts of different passes",
              {.why = "they depend on different findings of the passes before"});
}

}  // namespace ooc
