#include <ooc/detail/base/compressed_name.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "dataset/formats/headers/data_file.hpp"
#include "dataset/formats/json_text.hpp"

namespace ooc::detail {
namespace {

// A recording of SigMF is a description in JSON, x.sigmf-meta, and the samples, x.sigmf-data.
constexpr std::string_view sigmf_ending = ".sigmf-meta";
constexpr std::array<std::string_view, 1> sigmf_skipped{"annotations"};

/// The samples that core:datatype describes, such as "cf32_le".
struct SigmfType {
  DType type;
  bool is_complex;
};

/// Returns the type of a description; empty if there is none.
std::optional<SigmfType> sigmf_type(std::string_view text) {
  using enum ElementType;
  constexpr std::array<std::pair<std::string_view, ElementType>, 8> elements{{{"f32", f4},
                                                                              {"f64", f8},
                                                                              {"i32", i4},
                                                                              {"i16", i2},
                                                                              {"u32", u4},
                                                                              {"u16", u2},
                                                                              {"i8", i1},
                                                                              {"u8", u1}}};
  const bool is_complex = text.starts_with('c');
  if (!is_complex && !text.starts_with('r')) return {};
  const std::string_view name = text.substr(1, text.find('_') - 1);
  const std::string_view order = text.substr(1 + name.size());
  const auto found = std::ranges::find(elements, name, [](const auto& each) { return each.first; });
  if (found == elements.end()) return {};
  const bool has_order = order == "_le" || order == "_be";
  if (!has_order && !(order.empty() && size_of(found->second) == 1)) return {};
  return SigmfType{stored_type(found->second, order == "_be"), is_complex};
}

class SigmfReader : private JsonRules {
 public:
  explicit SigmfReader(Beginning& file) : JsonRules(file.path(), "SigMF"), header_(file) {}

  StoredArray array() {
    const Json root = parse_json(whole_text(header_, sigmf_format), sigmf_skipped, file_);
    const Json& global = member(root, "global");
    const Json& datatype = member(global, "core:datatype");
    if (!datatype.is_string()) fail("core:datatype to be a text");
    const auto type = sigmf_type(datatype.get_ref<const std::string&>());
    std::string why_not = has_samples_only(root, global) ? "" : "samples with other bytes";
    if (needs_extension(global)) why_not = "samples for which an extension is needed";
    if (!type) why_not = "samples of the type " + in_quotes(datatype.get<std::string>());
    if (!why_not.empty()) {
      return {.type = {},
              .type_reason = "from its header",
              .why_not = std::move(why_not),
              .hint = "save them as .npy: numpy.save(\"x.npy\", sigmf.sigmffile.fromfile(\"" +
                      file_.filename().string() + "\").read_samples())"};
    }
    const std::string name = data_name(global);
    std::vector<std::uint64_t> frame;
    const std::uint64_t channels = number(global, "core:num_channels", 1);
    if (channels == 0) fail("core:num_channels of 1 and more");
    if (channels != 1) frame.push_back(channels);
    if (type->is_complex) frame.push_back(2);
    const auto frame_bytes = product_of(frame, size_of(type->type));
    const std::uint64_t bytes = open_beside(header_, sigmf_format, name).size();
    if (!frame_bytes || bytes % *frame_bytes != 0) fail("a file of whole samples");
    frame.insert(frame.begin(), bytes / *frame_bytes);
    return array_in_place(header_, sigmf_format, {.file = name}, type->type, std::move(frame));
  }

 private:
  std::uint64_t number(const Json& object, const std::string& key, std::uint64_t missing) const {
    const Json& value = optional_member(object, key);
    if (value.is_null()) return missing;
    if (!value.is_number_unsigned()) fail(key + " to be a whole number");
    return value.get<std::uint64_t>();
  }

  /// True if the data file has samples, and nothing between or behind them.
  bool has_samples_only(const Json& root, const Json& global) const {
    if (optional_member(global, "core:metadata_only") == true) return false;
    if (number(global, "core:trailing_bytes", 0) != 0) return false;
    const Json& captures = optional_member(root, "captures");
    if (!captures.is_null() && !captures.is_array()) fail("captures to be a list");
    return std::ranges::all_of(captures, [this](const Json& capture) {
      return number(capture, "core:header_bytes", 0) == 0;
    });
  }

  /// True if the data cannot be understood without an extension of the format.
  bool needs_extension(const Json& global) const {
    const Json& extensions = optional_member(global, "core:extensions");
    if (!extensions.is_null() && !extensions.is_array()) fail("core:extensions to be a list");
    return std::ranges::any_of(extensions, [this](const Json& extension) {
      return optional_member(extension, "optional") == false;
    });
  }

  std::string data_name(const Json& global) const {
    const Json& dataset = optional_member(global, "core:dataset");
    if (dataset.is_string()) return dataset.get<std::string>();
    if (!dataset.is_null()) fail("core:dataset to be a name");
    return file_.stem().string() + ".sigmf-data";
  }

  Beginning& header_;
};

std::vector<StoredArray> list_sigmf(Beginning& file, const Format&) {
  return {SigmfReader(file).array()};
}

}  // namespace

const FormatParser sigmf_format{.format = FileFormat::sigmf,
                                .name = "sigmf",
                                .title = "SigMF",
                                .recognise =
                                    [](Beginning& file, const Format& format) {
                                      return format.offset == 0 &&
                                             ending_of_data(file.path()) == sigmf_ending;
                                    },
                                .list = list_sigmf};

}  // namespace ooc::detail
