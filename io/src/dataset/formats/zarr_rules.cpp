#include "dataset/formats/zarr_rules.hpp"

#include <algorithm>
#include <utility>

#include "base/shape.hpp"
#include "codec/chunk_grid.hpp"
#include "dataset/formats/formats.hpp"

namespace ooc::detail {

void ZarrRules::refuse(std::string why_not) {
  if (array_.why_not.empty()) array_.why_not = std::move(why_not);
}

ZarrRules::Lengths ZarrRules::chunk_lengths(const Json& list, const std::string& name) const {
  return JsonRules::chunk_lengths(list, name, array_.shape.size());
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
  if (auto why_not = ChunkGrid::why_not(array_.shape, array_.chunk, element_bytes);
      !why_not.empty()) {
    return refuse(std::move(why_not));
  }
  Lengths in_file;
  for (std::size_t i = 0; i < array_.shape.size(); ++i) {
    in_file.push_back(array_.file_chunk[i] / array_.chunk[i]);
  }
  if (product_of(in_file).value_or(~0ull) > ChunkGrid::most_chunks) {
    refuse("more than " + std::to_string(ChunkGrid::most_chunks) + " chunks");
  }
}

}  // namespace ooc::detail
