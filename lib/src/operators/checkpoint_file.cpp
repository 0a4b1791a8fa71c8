#include <ooc/detail/operators/checkpoint_file.hpp>

#include <ooc/detail/base/dtype.hpp>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace ooc::detail {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the operators and the records, as JSON: findings of other ones are of no use.
Json question_of(std::span<const PassInput> inputs, std::span<const OperatorQuestion> operators) {
  Json asked = Json::array(), data = Json::array();
  for (const auto& [name, settings, input] : operators) asked.push_back({name, settings, input});
  for (const PassInput& input : inputs) {
    Json extents = Json::array();
    for (const Extent& extent : input.source.extents()) {
      extents.push_back({extent.file, std::to_string(extent.offset), std::to_string(extent.bytes)});
    }
    Json moves = Json::array();
    for (const FieldMove& move : input.decoding.moves) {
      moves.push_back({move.from, move.to, move.bytes, move.swapped_bytes});
    }
    data.push_back({{"type", input.source.type() ? code_of(*input.source.type()) : ""},
                    {"record", input.record.bytes},
                    {"struct", input.decoding.bytes},
                    {"fields", std::move(moves)},
                    {"extents", std::move(extents)}});
  }
  return {{"checkpoint", std::move(asked)},
          {"first", std::to_string(records_before(inputs.front()))},
          {"data", std::move(data)}};
}

/// Returns, for example, "ooc.reduce/1 (f4, omit)".
std::string described(const Json& question) {
  std::string text;
  for (const Json& each : question.at("checkpoint")) {
    const std::string name = each.at(0).get<std::string>();
    text += (text.empty() ? "" : " and ") + name + " (" + each.at(1).get<std::string>() + ")";
  }
  return text;
}

constexpr std::string_view digits = "0123456789abcdef";

std::string to_digits(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = std::to_integer<std::size_t>(byte);
    text += {digits[value / 16], digits[value % 16]};
  }
  return text;
}

/// Throws Error(bad_input) for other digits.
std::vector<std::byte> from_digits(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = digits.find(text[i]);
    const std::size_t low = i + 1 < text.size() ? digits.find(text[i + 1]) : std::string::npos;
    if (high == std::string::npos || low == std::string::npos) {
      throw Error(ErrorKind::bad_input, "a checkpoint is damaged: '" + std::string(text) + "'");
    }
    bytes.push_back(static_cast<std::byte>(16 * high + low));
  }
  return bytes;
}

constexpr const char* begin_anew = "without the file, the job begins anew";

/// Throws Error(usage) for the findings of another job, unless the data have another size.
void require_same_job(const std::filesystem::path& path, const std::string& saved,
                      const std::string& wanted, bool has_other_size) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage, path.string() + ": is of another job",
                {.path = path,
                 .why = why,
                 .hint = "give each job a file of its own; without the file it begins anew"});
  };
  const Json one = Json::parse(saved), other = Json::parse(wanted);
  if (one == other) return;
  if (!one.is_object() || !one.contains("checkpoint")) refuse("it is a part, and no checkpoint");
  std::string of_what, of_this = described(other);
  try {
    of_what = described(one);
  } catch (const Json::exception&) {
    refuse("it is no checkpoint of this version");
  }
  if (of_what != of_this) refuse("it is of " + of_what + ", this job of " + of_this);
  if (!has_other_size) refuse("it is of other records of the files, or of values of another type");
}

}  // namespace

CheckpointFile::CheckpointFile(const Checkpoint& wanted) : path_(wanted.file) {
  std::error_code failed;
  const auto status = std::filesystem::status(path_, failed);
  if (status.type() == std::filesystem::file_type::not_found) return;
  if (failed) throw Error::from_errno(ErrorKind::input, "stat", failed.value(), path_);
  try {
    saved_ = read_part_file(path_);
  } catch (const Error& error) {
    throw Error(error.kind(), error.what(),
                {.path = path_,
                 .why = "it is to be the file of a checkpoint: " + error.details().why,
                 .hint = begin_anew});
  }
}

void CheckpointFile::keep(std::span<const std::byte> found) {
  kept_ = to_digits(found);
}

std::vector<std::byte> CheckpointFile::kept() const {
  if (!saved_) return {};
  const Json about = Json::parse(saved_->about);
  if (!about.is_object() || !about.contains("kept")) return {};
  return from_digits(about["kept"].is_string() ? about["kept"].get<std::string>() : "?");
}

const PartFile* CheckpointFile::begin(std::span<const PassInput> inputs,
                                      std::span<const OperatorQuestion> operators) {
  constexpr auto replace = Json::error_handler_t::replace;  // of bytes that are not UTF-8
  pass_ = {.question = question_of(inputs, operators).dump(-1, ' ', true, replace)};
  if (!kept_.empty()) pass_.about = Json{{"kept", kept_}}.dump();
  for (const PassInput& input : inputs) {
    if (input.source.is_produced()) {
      throw Error(ErrorKind::usage, input.source.name() + ": has no checkpoint",
                  {.why = "a producer makes the data once, from beginning to end",
                   .remedies = {{Change::unset, "PassOptions::checkpoint"}}});
    }
    if (input.resident != nullptr) {
      throw Error(ErrorKind::usage, "data that stay on the device have no checkpoint",
                  {.why = "they are gone when the job ends"});
    }
    for (FileIdentity& file : identity_of(input.source)) pass_.input.push_back(std::move(file));
  }
  pass_.records = inputs.front().source.whole_bytes() / inputs.front().record.bytes;
  const bool is_new = !saved_ || (saved_->covers.empty() && kept().empty());
  if (is_new) return nullptr;
  const bool has_other_size = !std::ranges::equal(saved_->input, pass_.input, {},
                                                  &FileIdentity::bytes, &FileIdentity::bytes);
  require_same_job(path_, saved_->question, pass_.question, has_other_size);
  if (const std::string why = difference_of_data(*saved_, pass_); !why.empty()) {
    throw Error(ErrorKind::input_changed,
                path_.string() + ": is of the data as they were before they changed",
                {.path = path_, .why = why, .hint = begin_anew});
  }
  return &*saved_;
}

PartFile CheckpointFile::empty() const {
  return pass_;
}

void CheckpointFile::save(const PartFile& found) const {
  write_part_file(path_, found, true);
}

void CheckpointFile::end() {
  saved_.reset();
}

Error has_no_checkpoints(std::string why) {
  return {ErrorKind::usage,
          "the findings of this operator cannot be saved",
          {.why = std::move(why), .remedies = {{Change::unset, "PassOptions::checkpoint"}}}};
}

std::string why_not_saved(bool is_merged_in_order) {
  return is_merged_in_order ? "it is merged in the order of the data"
                            : "it is no SavableFold: its partials have no name";
}

}  // namespace ooc::detail
