#include "dataset/formats/extent_table.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/little_endian.hpp"
#include "base/shape.hpp"
#include "codec/chunk_grid.hpp"
#include "dataset/formats/fill_value.hpp"
#include "dataset/formats/formats.hpp"
#include "dataset/formats/json_text.hpp"
#include "dataset/formats/npy_type.hpp"

namespace ooc::detail {
namespace {

constexpr std::size_t longest_line = 16 * MiB;

/// A codec that a table may name, and how to make it.
struct KnownCodec {
  std::string_view name;
  std::shared_ptr<const Codec> (*make)(std::size_t element_bytes);
  bool is_any_size = true;    // the size of what it decodes depends on the bytes
  bool has_elements = false;  // whose size stands behind its name
};

constexpr std::array<KnownCodec, 7> known_codecs{{
    {"bitshuffle", bitshuffle_codec, true, true},
    {"blosc", [](std::size_t) { return blosc_codec(); }},
    {"deflate", [](std::size_t) { return zlib_codec(); }},
    {"fletcher32", [](std::size_t) { return fletcher32_codec(); }, false},
    {"lz4", [](std::size_t) { return lz4_blocks_codec(); }},
    {"shuffle", shuffle_codec, false, true},
    {"zstd", [](std::size_t) { return zstd_codec(); }},
}};

const KnownCodec* find_codec(std::string_view name) {
  const auto* const found = std::ranges::find(known_codecs, name, &KnownCodec::name);
  return found == known_codecs.end() ? nullptr : found;
}

/// Parses a table. Members that are not known have no meaning.
class TableParser : private JsonRules {
 public:
  TableParser(std::string_view table, const std::filesystem::path& file, std::uint64_t file_bytes)
      : JsonRules(file, "extent table"), table_(table), file_bytes_(file_bytes) {}

  std::vector<StoredArray> parse() {
    const std::size_t line = table_.substr(0, longest_line).find('\n');
    if (line == std::string_view::npos) fail("a line of no more than 16 MiB");
    const Json root = parse_json(table_.substr(0, line), {}, file_);
    entries_ = table_.substr(line + 1);
    if (optional_member(root, "schema") != "ooc.extents/1") fail("the schema ooc.extents/1");
    const Json& files = member(root, "files");
    if (!files.is_array() || files.size() != 1 || !files[0].is_string()) fail("one file");
    const Json& arrays = member(root, "arrays");
    if (!arrays.is_array() || arrays.size() > most_arrays) fail("a list of arrays");
    std::vector<StoredArray> found;
    std::unordered_set<std::string_view> names;
    for (const Json& each : arrays) {
      const Json& name = member(each, "name");
      if (!name.is_string() || !names.insert(name.get_ref<const std::string&>()).second) {
        fail("each name once");
      }
      const Json& alias = optional_member(each, "alias");
      found.push_back(alias.is_null() ? array_of(each) : array_named(alias, found));
      found.back().name = name.get<std::string>();
    }
    if (!entries_.empty()) fail("no bytes behind the places of the chunks");
    require_apart();
    return found;
  }

 private:
  using Place = ChunkTable::Place;
  static constexpr std::size_t entry_bytes = 16;  // of a place

  /// Returns the array before that has a name.
  StoredArray array_named(const Json& name, const std::vector<StoredArray>& before) const {
    if (!name.is_string()) fail("an alias to be a name");
    const auto found =
        std::ranges::find(before, name.get_ref<const std::string&>(), &StoredArray::name);
    if (found == before.end()) fail("an alias of an array before it");
    return *found;
  }

  StoredArray array_of(const Json& described) {
    StoredArray array{.type = {}, .type_reason = "from its header"};
    if (const Json& why_not = optional_member(described, "why_not"); !why_not.is_null()) {
      if (!why_not.is_string() || why_not == "") fail("a reason to be a text");
      array.why_not = why_not.get<std::string>();
      const Json& shape = optional_member(described, "shape");
      if (!shape.is_null()) array.shape = lengths(shape);
      return array;
    }
    const Json& dtype = member(described, "dtype");
    if (!dtype.is_string()) fail("dtype to be a text");
    array.type = npy_type(file_, {.code = dtype.get<std::string>(), .fields = {}});
    if (array.type.is_bool) array.type_reason += ": bool, 0 or 1";
    array.shape = lengths(member(described, "shape"));
    const auto bytes = product_of(array.shape, size_of(array.type));
    if (!bytes) fail("a shape of less than 2^64 bytes");
    array.bytes = *bytes;
    if (optional_member(described, "extents").is_null()) {
      set_chunks(described, array);
    } else {
      set_extent(described, array);
    }
    return array;
  }

  /// Takes the place of an array that is stored in one piece, or not at all.
  void set_extent(const Json& described, StoredArray& array) {
    const Json& extents = member(described, "extents");
    if (!extents.is_array() || extents.size() > 1) fail("no more than one extent of an array");
    if (extents.empty()) {
      if (array.bytes == 0) return;
      array.chunks =
          std::make_shared<const ChunkTable>(ChunkTable{.fill = fill_of(described, array.type)});
      return;
    }
    const Lengths extent = lengths(extents[0]);
    if (extent.size() != 3 || extent[0] != 0 || extent[2] != array.bytes) {
      fail("an extent to be a file, an offset and the size that the shape says");
    }
    array.offset = extent[1];
    add_place(array.offset, array.bytes);
  }

  void set_chunks(const Json& described, StoredArray& array) {
    ChunkTable table{
        .chunk = chunk_lengths(member(described, "chunks"), "chunks", array.shape.size()),
        .fill = fill_of(described, array.type)};
    set_codecs(optional_member(described, "codecs"), table, array.why_not);
    Lengths counts;  // of chunks
    for (std::size_t i = 0; i < table.chunk.size(); ++i) {
      counts.push_back(divide_up(array.shape[i], table.chunk[i]));
    }
    const std::uint64_t count = *product_of(counts);  // no more than elements
    if (member(described, "entries") != count || entries_.size() / entry_bytes < count) {
      fail("a place of each chunk");
    }
    table.places.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      table.places.push_back(place_at(i * entry_bytes, table.codecs.size()));
    }
    entries_.remove_prefix(count * entry_bytes);
    if (array.why_not.empty()) {
      array.why_not = ChunkGrid::why_not(array.shape, table.chunk, size_of(array.type));
    }
    array.chunks = std::make_shared<const ChunkTable>(std::move(table));
  }

  /// Returns the place of a chunk, at a position of the entries.
  Place place_at(std::size_t position, std::size_t codecs) {
    Place place{
        .offset = number_in(entries_, position, 8),
        .bytes = static_cast<std::uint32_t>(number_in(entries_, position + 8, 4)),
        .skipped_codecs = static_cast<std::uint32_t>(number_in(entries_, position + 12, 4))};
    if (place.offset == ~std::uint64_t{0} && place.bytes == ~std::uint32_t{0}) return {};
    if (place.bytes == 0 || place.skipped_codecs >= std::uint64_t{1} << codecs) {
      fail("chunks that have bytes, and skip codecs that there are");
    }
    add_place(place.offset, place.bytes);
    return place;
  }

  void set_codecs(const Json& codecs, ChunkTable& table, std::string& why_not) {
    constexpr std::size_t most_codecs = 16;
    const bool is_list = codecs.is_null() || (codecs.is_array() && codecs.size() <= most_codecs);
    if (!is_list) fail("codecs to be a list of no more than 16");
    std::size_t of_any_size = 0;
    for (const Json& each : codecs) {
      if (!each.is_array() || each.empty() || !each[0].is_string()) fail("codecs with names");
      ChunkTable::Codec codec{.name = each[0].get<std::string>()};
      const KnownCodec* const known = find_codec(codec.name);
      if (known == nullptr) {
        why_not = "chunks encoded by " + in_quotes(codec.name);
        return;
      }
      if (known->has_elements) {
        const bool has_bytes = each.size() > 1 && each[1].is_number_unsigned();
        codec.element_bytes = has_bytes ? each[1].get<std::size_t>() : 0;
        constexpr std::size_t most_bytes = 1 << 20;
        if (codec.element_bytes == 0 || codec.element_bytes > most_bytes) {
          fail("the size of elements behind " + codec.name);
        }
      }
      of_any_size += known->is_any_size ? 1 : 0;
      table.codecs.push_back(std::move(codec));
    }
    if (of_any_size > 1) why_not = "chunks that are compressed twice";
  }

  std::vector<std::byte> fill_of(const Json& described, const DType& type) {
    const Json& value = optional_member(described, "fill");
    if (value.is_null()) return std::vector<std::byte>(size_of(type));
    auto fill = parse_fill_value(value, type);
    if (!fill) fail("a fill value that elements can have");
    return std::move(*fill);
  }

  void add_place(std::uint64_t offset, std::uint64_t bytes) {
    if (offset > file_bytes_ || bytes > file_bytes_ - offset) {
      throw not_understood(file_, "is shorter than its extent table says: bytes from " +
                                      std::to_string(offset) + " on are not there");
    }
    if (bytes != 0) stored_.emplace_back(offset, bytes);
  }

  void require_apart() {
    std::ranges::sort(stored_);
    const auto overlap = [](const auto& one, const auto& next) {
      return next.first < one.first + one.second;
    };
    const auto found = std::ranges::adjacent_find(stored_, overlap);
    if (found == stored_.end()) return;
    throw not_understood(file_, "its arrays overlap at byte " + std::to_string((found + 1)->first));
  }

  std::string_view table_, entries_{};
  const std::uint64_t file_bytes_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> stored_{};  // offsets and sizes
};

/// Returns the pieces of an array of which nothing is stored. They are short, so that none is kept.
std::vector<EncodedArray::Piece> pieces_of_fill(std::uint64_t bytes, std::uint64_t element_bytes) {
  constexpr std::uint64_t most_pieces = 1 << 20;
  const std::uint64_t elements = std::max(MiB / element_bytes, bytes / element_bytes / most_pieces);
  std::vector<EncodedArray::Piece> pieces;
  for (std::uint64_t end = 0; end < bytes;) {
    end += std::min(bytes - end, elements * element_bytes);
    pieces.push_back({.end = end, .offset = 0, .bytes = 0});
  }
  return pieces;
}

}  // namespace

std::vector<StoredArray> parse_extent_table(std::string_view table,
                                            const std::filesystem::path& file,
                                            std::uint64_t file_bytes) {
  return TableParser(table, file, file_bytes).parse();
}

File open_extents(File file, const StoredArray& array) {
  if (array.chunks == nullptr) return file;
  const ChunkTable& table = *array.chunks;
  const std::uint64_t element_bytes = size_of(array.type);
  std::string name = file.path().string();
  std::vector<File> files;
  files.push_back(std::move(file));
  if (table.chunk.empty() && table.places.empty()) {
    return File::of_pieces(std::make_shared<const EncodedArray>(
        std::move(files), pieces_of_fill(array.bytes, element_bytes),
        EncodedArray::Encoding{.fill = table.fill}, std::move(name)));
  }
  CodecChain chain;
  for (std::size_t i = table.codecs.size(); i-- > 0;) {
    chain.push_back(find_codec(table.codecs[i].name)->make(table.codecs[i].element_bytes));
  }
  const ChunkGrid grid(array.shape, table.chunk, element_bytes);
  std::vector<EncodedArray::Piece> pieces = grid.pieces();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const ChunkTable::Place& place = table.places[i];
    pieces[i].offset = place.offset;
    pieces[i].bytes = place.bytes;
    for (std::size_t codec = 0; codec < chain.size(); ++codec) {  // a chain is in the other order
      const std::uint32_t skipped = place.skipped_codecs >> codec & 1;
      pieces[i].skipped_codecs |= skipped << (chain.size() - 1 - codec);
    }
  }
  return File::of_pieces(std::make_shared<const EncodedArray>(
      std::move(files), std::move(pieces), grid.encoding(std::move(chain), table.fill),
      std::move(name)));
}

}  // namespace ooc::detail
