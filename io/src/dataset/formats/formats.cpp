#include "dataset/formats/formats.hpp"

#include <ooc/detail/base/edit_distance.hpp>

#include <algorithm>
#include <array>

namespace ooc::detail {
namespace {

constexpr std::array<const FormatParser*, 14> formats{
    &npy_format,       &npz_format,     &safetensors_format, &zarr_format, &hdf5_format,
    &fits_format,      &vectors_format, &nifti_format,       &wav_format,  &nrrd_format,
    &metaimage_format, &envi_format,    &sigmf_format,       &raw_format};

/// Returns an array for a message: "weight (float32, 512 x 384)".
std::string summary_of(const StoredArray& array) {
  std::string text = shortened(array.name) + " (";
  const std::string_view type = array.type.is_bool ? "bool" : name_of(array.type.element);
  text += array.why_not.empty() ? type : array.why_not;
  std::string_view between = ", ";
  constexpr std::size_t most = 8;  // lengths
  for (const std::uint64_t length :
       std::span(array.shape).first(std::min(array.shape.size(), most))) {
    text += between;
    text += std::to_string(length);
    between = " x ";
  }
  return text + (array.shape.size() > most ? " x ...)" : ")");
}

/// Returns the name that is likely meant by `name`; empty if none is similar.
std::string nearest(std::string_view name, std::span<const StoredArray> arrays) {
  constexpr std::size_t most_arrays = 10'000, most_bytes = 200;  // a comparison multiplies lengths
  std::string best;
  if (name.empty() || name.size() > most_bytes) return best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const StoredArray& array : arrays.first(std::min(arrays.size(), most_arrays))) {
    if (array.name.size() > most_bytes) continue;
    const std::size_t distance = edit_distance(name, array.name);
    if (distance >= best_distance) continue;
    best = array.name;
    best_distance = distance;
  }
  return best;
}

/// Returns the error for a name that selects no array.
Error not_selected(const std::vector<StoredArray>& arrays, const std::filesystem::path& path,
                   std::string_view name) {
  std::string problem = ": has " + std::to_string(arrays.size()) + " arrays", hint;
  if (!name.empty()) problem = ": has no array '" + shortened(std::string(name)) + "'";
  if (arrays.size() == 1 && arrays.front().name.empty()) {
    return {ErrorKind::usage,
            path.string() + problem,
            {.path = path, .why = "its only array has no name", .hint = "leave the name out"}};
  }
  if (const std::string near = nearest(name, arrays); !near.empty()) hint = near + " is similar; ";
  constexpr std::size_t most = 20;
  std::string_view before = "it has ";
  for (const StoredArray& array : std::span(arrays).first(std::min(arrays.size(), most))) {
    hint += before;
    hint += summary_of(array);
    before = ", ";
  }
  if (arrays.size() > most) hint += " and " + std::to_string(arrays.size() - most) + " more";
  return {ErrorKind::usage,
          path.string() + problem,
          {.path = path,
           .why = name.empty() ? "a name selects one: " + path.filename().string() + "::NAME" : "",
           .hint = std::move(hint)}};
}

/// Returns the error for an array in Fortran order; `name` is empty if it is a file of its own.
Error stored_by_columns(const std::filesystem::path& path, const std::string& name) {
  const std::string file = "numpy.load(\"" + path.filename().string() + "\"";
  const std::string load =
      name.empty() ? file + ", mmap_mode=\"r\")" : file + ")[\"" + shortened(name) + "\"]";
  return not_understood(path, "is stored column by column (Fortran order)",
                        "save it by rows: x = " + load +
                            "; numpy.lib.format.open_memmap(\"rows.npy\", \"w+\", x.dtype, "
                            "x.shape)[:] = x");
}

}  // namespace

std::span<const FormatParser* const> all_formats() noexcept {
  return formats;
}

const FormatParser& format_of(Beginning& file, const Format& format) {
  const auto fits = [&](const FormatParser* each) {
    if (format.file == FileFormat::automatic) return each->recognise(file, format);
    return each->format == format.file;
  };
  return **std::ranges::find_if(formats, fits);
}

StoredArray select_array(const FormatParser& parser, const std::vector<StoredArray>& arrays,
                         const std::filesystem::path& path, std::string_view name,
                         const Format& format) {
  const std::string article = parser.title == "HDF5" ? "an " : "a ";
  const std::string itself = article + std::string(parser.title) + " file says itself ";
  if (format.offset != 0 && parser.describes_itself()) {
    throw Error(ErrorKind::usage, path.string() + ": an offset is for raw files only",
                {.path = path, .why = itself + "where its data begin"});
  }
  if (format.offset != 0 && !name.empty()) {
    throw Error(ErrorKind::usage, path.string() + ": an offset is for raw files only",
                {.path = path,
                 .why = "the name of an array says where its data begin",
                 .remedies = {{RemedyAction::unset, "Format::offset"}}});
  }
  if (arrays.empty()) throw not_understood(path, "has no arrays");
  const bool is_only = arrays.size() == 1 && name.empty();
  auto found = is_only ? arrays.begin() : std::ranges::find(arrays, name, &StoredArray::name);
  if (found == arrays.end() && !name.empty()) {  // a path need not begin at the root
    found = std::ranges::find(arrays, "/" + std::string(name), &StoredArray::name);
  }
  if (found == arrays.end() && !name.empty()) {
    found = std::ranges::find(arrays, name, &StoredArray::alias);
  }
  if (found == arrays.end() || (name.empty() && !is_only)) throw not_selected(arrays, path, name);
  if (!found->why_not.empty()) {
    throw not_understood(path,
                         (found->name.empty() ? "" : shortened(found->name) + " ") + "holds " +
                             found->why_not + ", which are not supported",
                         found->hint);
  }
  if (found->by_columns && !format.by_columns) throw stored_by_columns(path, found->name);
  if (format.type && code_of(*format.type) != code_of(found->type)) {
    throw Error(ErrorKind::bad_input,
                path.string() + ": holds " + code_of(found->type) + ", not the " +
                    code_of(*format.type) + " asked for",
                {.path = path,
                 .why = itself + "what its type is",
                 .remedies = {{RemedyAction::unset, "Format::type"}}});
  }
  return *found;
}

StoredArray bytes_of(const std::vector<StoredArray>& arrays) {
  StoredArray all{.type = {}, .type_reason = "bytes of all arrays"};
  if (!arrays.empty())
    all.offset = std::ranges::min_element(arrays, {}, &StoredArray::offset)->offset;
  for (const StoredArray& array : arrays) all.bytes += array.bytes;
  return all;
}

Error not_understood(const std::filesystem::path& file, const std::string& problem,
                     const std::string& hint) {
  return Error(ErrorKind::bad_input, file.string() + ": " + problem, {.path = file, .hint = hint});
}

std::string shortened(const std::string& name) {
  constexpr std::size_t most = 100;
  return name.size() > most ? name.substr(0, most) + "..." : name;
}

std::string in_quotes(const std::string& text) {
  constexpr std::size_t most = 32;
  return "'" + text.substr(0, most) + (text.size() > most ? "...'" : "'");
}

std::uint64_t bytes_behind(const Beginning& file, std::uint64_t expected) {
  if (!file.bytes()) return 0;
  if (*file.bytes() < expected) {
    throw not_understood(file.path(), "is truncated: its header says " + std::to_string(expected) +
                                          " bytes, the file has " + std::to_string(*file.bytes()));
  }
  return *file.bytes() - expected;
}

}  // namespace ooc::detail
