#include "dataset.hpp"

#include <string>
#include <utility>

#include "element.hpp"
#include "handle.hpp"

namespace ooc_describe {
namespace {

using Json = nlohmann::json;

Json refuse(Json array, const std::string& why_not) {
  array["why_not"] = why_not;
  return array;
}

/// Returns the value of elements that are not stored; null if they are 0.
Json fill_of(hid_t properties, hid_t type, const std::string& code) {
  H5D_fill_value_t status{};
  checked(H5Pfill_value_defined(properties, &status), "H5Pfill_value_defined");
  if (status != H5D_FILL_VALUE_USER_DEFINED) return nullptr;
  std::vector<unsigned char> stored(H5Tget_size(type));
  checked(H5Pget_fill_value(properties, type, stored.data()), "H5Pget_fill_value");
  return value_of(code, stored);
}

Json contiguous(hid_t dataset, hid_t properties, Json array) {
  if (checked(H5Pget_external_count(properties), "H5Pget_external_count") != 0) {
    return refuse(std::move(array), "numbers in other files (external storage)");
  }
  const haddr_t offset = H5Dget_offset(dataset);
  array["extents"] = Json::array();
  if (offset != HADDR_UNDEF) {
    array["extents"].push_back(
        {0, std::uint64_t{offset}, std::uint64_t{H5Dget_storage_size(dataset)}});
  }
  return array;
}

Json chunked(hid_t dataset, hid_t properties, std::size_t element_bytes, Json array,
             ChunkLister& lister, std::vector<std::uint64_t>& entries) {
  const auto shape = array["shape"].get<std::vector<hsize_t>>();
  std::vector<hsize_t> chunk(shape.size());
  checked(H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data()), "H5Pget_chunk");
  ChunkCodecs codecs = codecs_of(properties, element_bytes);
  std::string why_not = codecs.why_not;
  unsigned options = 0;
  checked(H5Pget_chunk_opts(properties, &options), "H5Pget_chunk_opts");
  if (options != 0 && !codecs.names.empty()) why_not = "chunks that are not all encoded alike";
  ChunkPlaces places;
  if (why_not.empty()) {
    places = lister.places(dataset, shape, chunk, codecs.of_filter);
    why_not = places.why_not;
  }
  if (!why_not.empty()) return refuse(std::move(array), why_not);
  array["chunks"] = chunk;
  array["codecs"] = std::move(codecs.names);
  array["entries"] = places.pairs.size() / 2;
  entries.insert(entries.end(), places.pairs.begin(), places.pairs.end());
  return array;
}

}  // namespace

Json describe_dataset(hid_t dataset, ChunkLister& lister, std::vector<std::uint64_t>& entries) {
  Json array = Json::object();
  const SpaceHandle space(H5Dget_space(dataset), "H5Dget_space");
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    return refuse(std::move(array), "no elements (a null dataspace)");
  }
  const int dimensions = checked(H5Sget_simple_extent_ndims(space), "H5Sget_simple_extent_ndims");
  std::vector<hsize_t> shape(static_cast<std::size_t>(dimensions));
  checked(H5Sget_simple_extent_dims(space, shape.data(), nullptr), "H5Sget_simple_extent_dims");
  array["shape"] = shape;
  const TypeHandle type(H5Dget_type(dataset), "H5Dget_type");
  const Element element = element_of(type);
  if (element.code.empty()) return refuse(std::move(array), element.why_not);
  array["dtype"] = element.code;
  const PropertyHandle properties(H5Dget_create_plist(dataset), "H5Dget_create_plist");
  if (Json fill = fill_of(properties, type, element.code); !fill.is_null()) {
    array["fill"] = std::move(fill);
  }
  switch (H5Pget_layout(properties)) {
    case H5D_CONTIGUOUS: return contiguous(dataset, properties, std::move(array));
    case H5D_CHUNKED:
      return chunked(dataset, properties, H5Tget_size(type), std::move(array), lister, entries);
    case H5D_COMPACT:
      return refuse(std::move(array), "numbers within the header (compact storage)");
    case H5D_VIRTUAL:
      return refuse(std::move(array), "numbers of other datasets (virtual storage)");
    default: return refuse(std::move(array), "numbers in an unusual layout");
  }
}

}  // namespace ooc_describe
