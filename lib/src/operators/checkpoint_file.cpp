#include <ooc/detail/operators/checkpoint_file.hpp>

#include <ooc/detail/base/dtype.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "operators/part_json.hpp"

namespace ooc::detail {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the operators, the records and the outputs, as JSON: findings of other ones are of no
/// use.
Json question_of(std::span<const PassInput> inputs, std::span<const OperatorQuestion> operators,
                 std::span<const Target> targets) {
  Json asked = Json::array(), data = Json::array(), outputs = Json::array();
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
  for (const Target& target : targets) {
    Json shape = Json::array();
    for (const std::uint64_t length : target.shape) shape.push_back(std::to_string(length));
    outputs.push_back({{"name", target.path.filename().string()},
                       {"type", code_of(target.type)},
                       {"shape", std::move(shape)}});
  }
  Json question{{"checkpoint", std::move(asked)},
                {"first", std::to_string(records_before(inputs.front()))},
                {"data", std::move(data)}};
  if (!outputs.empty()) question["outputs"] = std::move(outputs);
  return question;
}

// The name of a kept file is that of its target but for some letters, which the checkpoint has: a
// file may have a name that is not UTF-8.
constexpr std::size_t id_letters = 8;
constexpr std::string_view kept_ending = ".ooc-part";

std::size_t id_place(const std::string& name) {
  return name.size() - kept_ending.size() - id_letters;
}

Json json_of(const SavedOutput& output) {
  const std::string& name = output.file.name;
  Json json{{"id", name.substr(id_place(name), id_letters)},
            {"bytes", std::to_string(output.file.bytes)}};
  if (output.whole) json["whole"] = json_of(*output.whole);
  return json;
}

SavedOutput output_in(const Json& json, const Target& target) {
  std::string name = new_kept_name(target.path);
  name.replace(id_place(name), id_letters, json.at("id").get<std::string>());
  SavedOutput output{{std::move(name), integer_in<std::uint64_t>(json.at("bytes"))}, {}};
  if (json.contains("whole")) output.whole = identity_in(json.at("whole"));
  return output;
}

/// Returns the outputs of which a file says, for these targets. Throws Error(bad_input) if it is
/// damaged.
std::vector<SavedOutput> outputs_in(const PartFile& saved, std::span<const Target> targets) {
  std::vector<SavedOutput> outputs;
  try {
    const Json about = Json::parse(saved.about);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      outputs.push_back(output_in(about.at("outputs").at(i), targets[i]));
    }
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::bad_input, std::string("a checkpoint is damaged: ") + error.what());
  }
  return outputs;
}

/// Returns, for example, " to y.f4 and z.f4"; empty without outputs.
std::string described_outputs(const Json& question) {
  std::string text;
  if (!question.contains("outputs")) return text;
  for (const Json& output : question["outputs"]) {
    text += (text.empty() ? " to " : " and ") + output.at("name").get<std::string>();
  }
  return text;
}

/// Returns, for example, "ooc.reduce/1 (f4, omit)".
std::string described(const Json& question) {
  std::string text;
  for (const Json& each : question.at("checkpoint")) {
    const std::string name = each.at(0).get<std::string>();
    const std::string settings = each.at(1).get<std::string>();
    text += (text.empty() ? "" : " and ") + name;
    if (!settings.empty()) text += " (" + settings + ")";
  }
  return text + described_outputs(question);
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

bool has_outputs(const PartFile& saved) {
  const Json about = Json::parse(saved.about);
  return about.is_object() && about.contains("outputs");
}

/// Returns the hint for a file that is refused, which names the outputs that are kept with it.
std::string hint_for(const PartFile& saved) {
  std::string kept;
  try {
    const Json question = Json::parse(saved.question), about = Json::parse(saved.about);
    for (std::size_t i = 0; has_outputs(saved) && i < question.at("outputs").size(); ++i) {
      kept += " and ." + question["outputs"][i].at("name").get<std::string>() + "." +
              about.at("outputs").at(i).at("id").get<std::string>() + std::string(kept_ending);
    }
  } catch (const Json::exception&) {
    kept.clear();
  }
  return kept.empty() ? begin_anew
                      : "without the file" + kept +
                            ", which is beside its output, the job begins "
                            "anew";
}

/// Throws Error(usage) for the findings of another job, unless the data have another size.
void require_same_job(const std::filesystem::path& path, const PartFile& saved,
                      const std::string& wanted, bool has_other_size) {
  const auto refuse = [&](const std::string& why) {
    throw Error(
        ErrorKind::usage, path.string() + ": is of another job",
        {.path = path, .why = why, .hint = "give each job a file of its own; " + hint_for(saved)});
  };
  const Json one = Json::parse(saved.question), other = Json::parse(wanted);
  if (one == other) return;
  if (!one.is_object() || !one.contains("checkpoint")) refuse("it is a part, and no checkpoint");
  std::string of_what, of_this = described(other);
  try {
    of_what = described(one);
  } catch (const Json::exception&) {
    refuse("it is no checkpoint of this version");
  }
  if (of_what != of_this) refuse("it is of " + of_what + ", this job of " + of_this);
  if (has_other_size) return;
  Json data = one;  // with the outputs of this job
  if (other.contains("outputs")) data["outputs"] = other["outputs"];
  refuse(data == other ? "its output has another type or shape"
                       : "it is of other records of the files, or of values of another type");
}

}  // namespace

CheckpointFile::CheckpointFile(const Checkpoint& wanted) : path_(wanted.file) {
  if (std::isnan(wanted.every_seconds)) {
    throw Error(ErrorKind::usage, "Checkpoint::every_seconds is not a number");
  }
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

void CheckpointFile::set_outputs(std::vector<SavedOutput> outputs) {
  outputs_ = std::move(outputs);
  set_about();
}

void CheckpointFile::set_about() {
  Json about = Json::object();
  if (!kept_.empty()) about["kept"] = kept_;
  for (const SavedOutput& output : outputs_) about["outputs"].push_back(json_of(output));
  pass_.about = about.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::vector<std::byte> CheckpointFile::kept() const {
  if (!saved_) return {};
  const Json about = Json::parse(saved_->about);
  if (!about.is_object() || !about.contains("kept")) return {};
  return from_digits(about["kept"].is_string() ? about["kept"].get<std::string>() : "?");
}

const PartFile* CheckpointFile::begin(std::span<const PassInput> inputs,
                                      std::span<const OperatorQuestion> operators,
                                      std::span<const Target> targets) {
  constexpr auto replace = Json::error_handler_t::replace;  // of bytes that are not UTF-8
  pass_ = {.question = question_of(inputs, operators, targets).dump(-1, ' ', true, replace)};
  outputs_.clear();
  for (const Target& target : targets) outputs_.push_back({{new_kept_name(target.path)}, {}});
  set_about();
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
  // A file of a job with outputs is not replaced, even if it has found nothing: these would stay.
  const bool is_new =
      !saved_ || (saved_->covers.empty() && kept().empty() && !has_outputs(*saved_));
  if (is_new) return nullptr;
  const bool has_other_size = !std::ranges::equal(saved_->input, pass_.input, {},
                                                  &FileIdentity::bytes, &FileIdentity::bytes);
  require_same_job(path_, *saved_, pass_.question, has_other_size);
  pass_.records = saved_->records;  // those of the question
  if (const std::string why = difference_of_data(*saved_, pass_); !why.empty()) {
    throw Error(ErrorKind::input_changed,
                path_.string() + ": is of the data as they were before they changed",
                {.path = path_, .why = why, .hint = hint_for(*saved_)});
  }
  if (targets.empty()) return &*saved_;
  std::vector<SavedOutput> saved_outputs = outputs_in(*saved_, targets);
  if (saved_->covers.empty()) {  // the file may not have had its name yet
    for (SavedOutput& output : saved_outputs) output.file.bytes = 0;
  }
  set_outputs(std::move(saved_outputs));
  return &*saved_;
}

PartFile CheckpointFile::empty() const {
  return pass_;
}

void CheckpointFile::save(PartFile found) const {
  found.about = pass_.about;
  write_part_file(path_, found, true);
}

void CheckpointFile::save_whole(PartFile found, std::vector<SavedOutput> outputs, Stats& stats) {
  set_outputs(std::move(outputs));
  try {
    save(std::move(found));
  } catch (const Error& error) {
    // Of several outputs, some might be in place and others not, and no run could go on.
    if (error.kind() != ErrorKind::output || outputs_.size() > 1) throw;
    stats.outcome.remarks.push_back(std::string("that the output is whole could not be saved: ") +
                                    error.what());
  }
}

void CheckpointFile::end() {
  saved_.reset();
}

void add_unsaved_remark(const Error& error, Stats& stats) {
  const std::string remark =
      std::string("what was found could not be saved, once or more: ") + error.what();
  auto& remarks = stats.outcome.remarks;
  if (std::ranges::find(remarks, remark) == remarks.end()) remarks.push_back(remark);
}

Error has_no_checkpoints(std::string why) {
  return {ErrorKind::usage,
          "the findings of this operator cannot be saved",
          {.why = std::move(why), .remedies = {{Change::unset, "PassOptions::checkpoint"}}}};
}

std::string why_not_saved(bool is_merged_in_order) {
  return is_merged_in_order ? "it is merged in the order of the data"
                            : "it has no `partial_name`, or its partials cannot be saved";
}

}  // namespace ooc::detail
