#include "dataset/formats/zarr_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "dataset/formats/fill_value.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/formats/json_text.hpp"
#include "dataset/formats/zarr_rules.hpp"

namespace ooc::detail {
namespace {

struct TypeName {
  std::string_view name;
  ElementType element;
};

constexpr std::array<TypeName, 13> type_names{{{"bool", ElementType::u1},
                                               {"int8", ElementType::i1},
                                               {"int16", ElementType::i2},
                                               {"int32", ElementType::i4},
                                               {"int64", ElementType::i8},
                                               {"uint8", ElementType::u1},
                                               {"uint16", ElementType::u2},
                                               {"uint32", ElementType::u4},
                                               {"uint64", ElementType::u8},
                                               {"float16", ElementType::f2},
                                               {"float32", ElementType::f4},
                                               {"float64", ElementType::f8},
                                               {"bfloat16", ElementType::bf16}}};

/// Members of a zarr.json that are looked at, or that have no meaning for the bytes.
constexpr std::array<std::string_view, 12> known_members{
    "zarr_format",          "node_type",          "shape",      "data_type",
    "chunk_grid",           "chunk_key_encoding", "fill_value", "codecs",
    "storage_transformers", "dimension_names",    "attributes", "consolidated_metadata"};
constexpr std::array<std::string_view, 2> skipped_members{"attributes", "consolidated_metadata"};

/// Parses the header of an array. Throws Error(bad_input) if it breaks a rule of the format; notes
/// why the array cannot be read if it does not.
class Header3Parser : private ZarrRules {
 public:
  explicit Header3Parser(const std::filesystem::path& file) : ZarrRules(file) {}

  std::optional<ZarrArray> parse(const Json& root) {
    if (optional_member(root, "zarr_format") != 3) fail("zarr_format to be 3");
    const Json& node = member(root, "node_type");
    if (node == "group") return {};
    if (node != "array") fail("node_type to be array or group");
    array_.shape = lengths(member(root, "shape"));
    refuse_unknown(root);
    parse_type(member(root, "data_type"));
    parse_grid(member(root, "chunk_grid"));
    parse_names(member(root, "chunk_key_encoding"));
    parse_codecs(member(root, "codecs"));
    if (array_.why_not.empty()) {
      auto fill = parse_fill_value(member(root, "fill_value"), array_.type);
      if (!fill) fail("a fill_value that the data_type can have");
      array_.fill = std::move(*fill);
    }
    if (array_.why_not.empty()) require_sizes();
    return std::move(array_);
  }

 private:
  using Kind = ZarrCodec::Kind;
  static constexpr std::array<CodecName, 4> known_codecs{{{"blosc", Kind::blosc},
                                                          {"crc32c", Kind::crc32c},
                                                          {"gzip", Kind::gzip},
                                                          {"zstd", Kind::zstd}}};

  /// Returns the name of an extension point: a text, or an object with a name.
  std::string name(const Json& extension) const {
    const Json& text = extension.is_string() ? extension : member(extension, "name");
    if (!text.is_string()) fail("names that are texts");
    return text.get<std::string>();
  }

  /// Returns a member of the configuration of an extension point; null if there is none.
  const Json& option(const Json& extension, const std::string& key) const {
    return optional_member(optional_member(extension, "configuration"), key);
  }

  Lengths chunk_shape(const Json& extension) const {
    return chunk_lengths(option(extension, "chunk_shape"), "a chunk_shape");
  }

  void refuse_unknown(const Json& root) {
    for (const auto& [key, value] : root.items()) {
      const bool is_known = std::ranges::find(known_members, key) != known_members.end();
      const bool may_ignore = optional_member(value, "must_understand") == false;
      if (!is_known && !may_ignore) refuse("data described by " + in_quotes(key));
    }
    const Json& transformers = optional_member(root, "storage_transformers");
    if (!transformers.empty()) refuse("chunks behind storage transformers");
  }

  void parse_type(const Json& type) {
    const std::string text = name(type);
    const auto found = std::ranges::find(type_names, text, &TypeName::name);
    if (found == type_names.end()) return refuse(in_quotes(text) + " numbers");
    array_.type = {found->element};
    array_.type.is_bool = text == "bool";
  }

  void parse_grid(const Json& grid) {
    if (name(grid) != "regular") return refuse("chunks of a grid " + in_quotes(name(grid)));
    array_.file_chunk = array_.chunk = chunk_shape(grid);
  }

  void parse_names(const Json& encoding) {
    const std::string text = name(encoding);
    if (text != "default" && text != "v2") return refuse("chunks with names " + in_quotes(text));
    array_.has_prefix = text == "default";
    const Json& separator = option(encoding, "separator");
    if (!separator.is_null() && separator != "/" && separator != ".") fail("a separator / or .");
    const bool has_dots = separator.is_null() ? !array_.has_prefix : separator == ".";
    array_.separator = has_dots ? '.' : '/';
  }

  /// Parses a chain: `bytes` or, in files, `sharding_indexed`, and codecs of bytes behind it.
  void parse_codecs(const Json& codecs) {
    if (!codecs.is_array() || codecs.empty()) fail("codecs to be a list");
    const std::string first = name(codecs.front());
    if (first == "sharding_indexed") {
      if (array_.shard_index || codecs.size() > 1) return refuse("shards that are encoded");
      return parse_shards(codecs.front());
    }
    if (first != "bytes") return refuse("chunks encoded by " + in_quotes(first));
    array_.type.swapped = is_swapped(codecs.front());
    for (std::size_t i = 1; i < codecs.size(); ++i) {
      add_codec(name(codecs[i]), optional_member(codecs[i], "configuration"), known_codecs);
    }
  }

  bool is_swapped(const Json& bytes) const {
    const Json& endian = option(bytes, "endian");
    if (endian == "little") return std::endian::native == std::endian::big;
    if (endian == "big") return std::endian::native == std::endian::little;
    if (!endian.is_null() || (array_.why_not.empty() && ooc::size_of(array_.type) != 1)) {
      fail("endian to be little or big");
    }
    return false;
  }

  void parse_shards(const Json& sharding) {
    array_.chunk = chunk_shape(sharding);
    for (std::size_t i = 0; i < array_.chunk.size() && array_.why_not.empty(); ++i) {
      if (array_.file_chunk[i] % array_.chunk[i] != 0) fail("shards of whole chunks");
    }
    const Json& place = option(sharding, "index_location");
    if (!place.is_null() && place != "start" && place != "end") fail("an index_location");
    array_.shard_index = {.is_first = place == "start"};
    const Json& index = option(sharding, "index_codecs");
    if (!index.is_array() || index.empty()) fail("index_codecs to be a list");
    array_.shard_index->has_checksum = index.size() == 2 && name(index.back()) == "crc32c";
    const bool is_plain = name(index.front()) == "bytes" &&
                          option(index.front(), "endian") == "little" &&
                          index.size() == (array_.shard_index->has_checksum ? 2 : 1);
    if (!is_plain) refuse("shards whose index is encoded");
    parse_codecs(option(sharding, "codecs"));
  }
};

}  // namespace

std::optional<ZarrArray> parse_zarr_header(std::string_view text,
                                           const std::filesystem::path& file) {
  return Header3Parser(file).parse(parse_json(text, skipped_members, file));
}

}  // namespace ooc::detail
