#include "dataset/formats/json_text.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dataset/formats/formats.hpp"

namespace ooc::detail {
namespace {

using Json = nlohmann::json;

/// Builds the values, event by event, because nlohmann's own builder keeps the last value of a key
/// that is there twice.
class JsonBuilder final : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(std::span<const std::string_view> skipped, const std::filesystem::path& file)
      : skipped_(skipped), file_(file) {}

  Json build(std::string_view text) {
    Json::sax_parse(text.begin(), text.end(), this);
    return std::move(whole_);
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& text) override { return add(std::move(text)); }
  bool binary(Json::binary_t&) override { return false; }  // not in a text
  bool start_object(std::size_t) override { return begin(Json::object()); }
  bool start_array(std::size_t) override { return begin(Json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(std::string& text) override {
    if (skipped_levels_ != 0) return true;
    skips_value_ = open_.size() == 1 && std::ranges::find(skipped_, text) != skipped_.end();
    if (open_.back()->contains(text)) fail("has the key " + in_quotes(text) + " twice");
    next_ = &(*open_.back())[text];
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    throw Error(ErrorKind::bad_input,
                file_.string() + ": is no JSON at byte " + std::to_string(position - 1),
                {.path = file_, .offset = position - 1});
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const { throw not_understood(file_, problem); }

  /// Returns where the next value belongs, or null if it is left out.
  Json* place() {
    if (skipped_levels_ != 0 || std::exchange(skips_value_, false)) return nullptr;
    if (open_.empty()) return &whole_;
    if (!open_.back()->is_array()) return next_;
    open_.back()->push_back(nullptr);
    return &open_.back()->back();
  }

  bool add(Json value) {
    if (Json* const found = place()) *found = std::move(value);
    return true;
  }

  bool begin(Json empty) {
    constexpr std::size_t most_levels = 32;
    if (open_.size() + skipped_levels_ == most_levels) fail("is deeper than 32 levels");
    if (Json* const found = place()) {
      *found = std::move(empty);
      open_.push_back(found);
    } else {
      ++skipped_levels_;
    }
    return true;
  }

  bool end() {
    if (skipped_levels_ != 0) {
      --skipped_levels_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  const std::span<const std::string_view> skipped_;
  const std::filesystem::path& file_;
  Json whole_{};
  std::vector<Json*> open_{};  // the objects and lists that have begun, the innermost last
  Json* next_ = nullptr;       // the value of the last key
  bool skips_value_ = false;   // of the last key
  std::size_t skipped_levels_ = 0;
};

}  // namespace

Json parse_json(std::string_view text, std::span<const std::string_view> skipped,
                const std::filesystem::path& file) {
  return JsonBuilder(skipped, file).build(text);
}

void JsonRules::fail(const std::string& expected) const {
  throw not_understood(file_, std::string(header_) + " not understood: expected " + expected);
}

const JsonRules::Json& JsonRules::member(const Json& object, const std::string& key) const {
  const Json& found = optional_member(object, key);
  if (found.is_null()) fail("the key " + key);
  return found;
}

const JsonRules::Json& JsonRules::optional_member(const Json& object,
                                                  const std::string& key) const {
  if (!object.is_object()) return none_;
  const auto found = object.find(key);
  return found == object.end() ? none_ : *found;
}

JsonRules::Lengths JsonRules::lengths(const Json& list) const {
  const auto is_length = [](const Json& each) { return each.is_number_unsigned(); };
  if (!list.is_array() || list.size() > most_lengths || !std::ranges::all_of(list, is_length)) {
    fail("shapes of no more than 64 whole numbers");
  }
  return list.get<Lengths>();
}

JsonRules::Lengths JsonRules::chunk_lengths(const Json& list, const std::string& name,
                                            std::size_t dimensions) const {
  Lengths chunk = lengths(list);
  if (chunk.size() != dimensions || std::ranges::count(chunk, 0u) != 0) {
    fail(name + " of as many lengths as shape, none of them 0");
  }
  return chunk;
}

}  // namespace ooc::detail
