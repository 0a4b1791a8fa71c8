#include "dataset/formats/zarr_rules.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/codec/encoded_array.hpp>

#include <algorithm>
#include <utility>

#include "base/shape.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

constexpr std::uint64_t most_chunks = std::uint64_t{1} << 24;  // 32 bytes are kept for each

}  // namespace

void ZarrRules::fail(const std::string& expected) const {
  throw not_understood(file_, "Zarr header not understood: expected " + expected);
}

void ZarrRules::refuse(std::string why_not) {
  if (array_.why_not.empty()) array_.why_not = std::move(why_not);
}

const ZarrRules::Json& ZarrRules::member(const Json& object, const std::string& key) const {
  const Json& found = optional_member(object, key);
  if (found.is_null()) fail("the key " + key);
  return found;
}

const ZarrRules::Json& ZarrRules::optional_member(const Json& object,
                                                  const std::string& key) const {
  if (!object.is_object()) return none_;
  const auto found = object.find(key);
  return found == object.end() ? none_ : *found;
}

ZarrRules::Lengths ZarrRules::lengths(const Json& list) const {
  const auto is_length = [](const Json& each) { return each.is_number_unsigned(); };
  if (!list.is_array() || list.size() > most_lengths || !std::ranges::all_of(list, is_length)) {
    fail("shapes of no more than 64 whole numbers");
  }
  return list.get<Lengths>();
}

ZarrRules::Lengths ZarrRules::chunk_lengths(const Json& list, const std::string& name) const {
  Lengths chunk = lengths(list);
  if (chunk.size() != array_.shape.size() || std::ranges::count(chunk, 0u) != 0) {
    fail(name + " of as many lengths as shape, none of them 0");
  }
  return chunk;
}

void ZarrRules::add_codec(const std::string& name, const Json& options,
                          std::span<const CodecName> known) {
  using Kind = ZarrCodec::Kind;
  const auto found = std::ranges::find(known, name, &CodecName::name);
  if (found == known.end()) return refuse("chunks encoded by " + in_quotes(name));
  ZarrCodec codec{.kind = found->kind};
  if (codec.kind == Kind::blosc) {
    const Json& inner = optional_member(options, "cname");
    if (inner == "blosclz" || inner == "snappy") {
      return refuse("chunks encoded by 'blosc' with " + in_quotes(inner.get<std::string>()));
    }
  } else if (codec.kind == Kind::shuffle) {
    constexpr std::size_t usual = 4;
    const Json& bytes = optional_member(options, "elementsize");
    if (!bytes.is_null() && !bytes.is_number_unsigned()) fail("elementsize to be a whole number");
    codec.element_bytes = bytes.is_null() ? usual : bytes.get<std::size_t>();
    if (codec.element_bytes <= 1) return;  // all stays where it is
  }
  const auto is_any_size = [](const ZarrCodec& each) {
    return each.kind != Kind::crc32c && each.kind != Kind::shuffle;
  };
  if (is_any_size(codec) && std::ranges::any_of(array_.codecs, is_any_size)) {
    return refuse("chunks that are compressed twice");
  }
  array_.codecs.push_back(codec);
}

void ZarrRules::require_sizes() {
  const std::uint64_t element_bytes = ooc::size_of(array_.type);
  if (!product_of(array_.shape, element_bytes)) fail("a shape of less than 2^64 bytes");
  const auto most_bytes = std::to_string(EncodedArray::most_piece_bytes);
  const auto chunk_bytes = product_of(array_.chunk, element_bytes);
  if (chunk_bytes.value_or(~0ull) > EncodedArray::most_piece_bytes) {
    return refuse("chunks of more than " + most_bytes + " bytes");
  }
  Lengths counts, in_file;
  for (std::size_t i = 0; i < array_.shape.size(); ++i) {
    counts.push_back(divide_up(array_.shape[i], array_.chunk[i]));
    in_file.push_back(array_.file_chunk[i] / array_.chunk[i]);
  }
  const bool is_known = product_of(counts).value_or(~0ull) <= most_chunks &&
                        product_of(in_file).value_or(~0ull) <= most_chunks;
  if (!is_known) return refuse("more than " + std::to_string(most_chunks) + " chunks");
  if (const std::uint64_t band = band_bytes(counts); band > EncodedArray::most_piece_bytes) {
    refuse("tiles of which those with the same rows take " + std::to_string(band) +
           " bytes (at most " + most_bytes + " are kept; store it in chunks of fewer rows)");
  }
}

/// Returns what all tiles that have the same rows decode to (bytes); 0 if chunks are no tiles.
std::uint64_t ZarrRules::band_bytes(const Lengths& counts) const {
  std::size_t first = 0;
  while (first + 1 < array_.chunk.size() && array_.chunk[first] == 1) ++first;
  if (first + 1 >= counts.size()) return 0;
  const std::uint64_t tiles = product_of(std::span(counts).subspan(first + 1)).value_or(0);
  if (tiles <= 1) return 0;
  return tiles * *product_of(array_.chunk, ooc::size_of(array_.type));  // 2^24 times 2^30 at most
}

}  // namespace ooc::detail
