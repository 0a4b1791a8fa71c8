#include <ooc/detail/operators/checkpoint_file.hpp>

#include <ooc/detail/base/dtype.hpp>

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
  for (const auto& [name, settings] : operators) asked.push_back({name, settings});
  for (const PassInput& input : inputs) {
    Json extents = Json::array();
    for (const Extent& extent : input.source.extents()) {
      extents.push_back({extent.file, std::to_string(extent.offset), std::to_string(extent.bytes)});
    }
    data.push_back({{"type", input.source.type() ? code_of(*input.source.type()) : ""},
                    {"record", input.record.bytes},
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

/// Throws Error(usage) for the findings of another job.
void require_same_job(const std::filesystem::path& path, const std::string& saved,
                      const std::string& wanted) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::usage, path.string() + ": is of another job",
                {.path = path,
                 .why = why,
                 .hint = "give each job a file of its own; without the file it begins anew"});
  };
  const Json one = Json::parse(saved), other = Json::parse(wanted);
  if (one == other) return;
  if (!one.is_object() || !one.contains("checkpoint")) refuse("it is a part, and no checkpoint");
  if (one.at("checkpoint") != other.at("checkpoint")) {
    refuse("it is of " + described(one) + ", this job of " + described(other));
  }
  refuse("it is of another type, or of other records of the files");
}

}  // namespace

CheckpointFile::CheckpointFile(const Checkpoint& wanted) : path_(wanted.file) {
  std::error_code failed;
  if (std::filesystem::exists(path_, failed)) saved_ = read_part_file(path_);
}

std::optional<std::string> CheckpointFile::saved_about() const {
  if (saved_) return saved_->about;
  return {};
}

const PartFile* CheckpointFile::begin(std::span<const PassInput> inputs,
                                      std::span<const OperatorQuestion> operators) {
  pass_ = {.question = question_of(inputs, operators).dump(), .about = about};
  for (const PassInput& input : inputs) {
    if (input.resident != nullptr) {
      throw Error(ErrorKind::usage, "data that stay on the device have no checkpoint",
                  {.why = "they are gone when the job ends"});
    }
    for (FileIdentity& file : identity_of(input.source)) pass_.input.push_back(std::move(file));
  }
  pass_.records = inputs.front().source.whole_bytes() / inputs.front().record.bytes;
  if (!saved_) return nullptr;
  require_same_job(path_, saved_->question, pass_.question);
  if (const std::string why = difference_of_data(*saved_, pass_); !why.empty()) {
    throw Error(ErrorKind::input_changed,
                path_.string() + ": is of the data as they were before they changed",
                {.path = path_, .why = why, .hint = "without the file, the job begins anew"});
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

void CheckpointFile::remove() const noexcept {
  std::error_code failed;
  std::filesystem::remove(path_, failed);
}

Error has_no_checkpoints(bool is_merged_in_order) {
  return {ErrorKind::usage,
          "the findings of this operator cannot be saved",
          {.why = is_merged_in_order ? "it is merged in the order of the data"
                                     : "its partials have no name: see SavableFold",
           .remedies = {{Change::unset, "PassOptions::checkpoint"}}}};
}

}  // namespace ooc::detail
