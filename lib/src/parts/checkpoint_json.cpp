#include "parts/checkpoint_json.hpp"

#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/detail/inputs/pass_inputs.hpp>
#include <ooc/dtype.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "parts/part_json.hpp"

namespace ooc::detail {

namespace {

// A checkpoint has only the random letters of the name of a kept file. The other ones are those of
// its target, whose name may not be UTF-8.
constexpr std::size_t id_letters = 8;
constexpr std::string_view kept_ending = ".ooc-part";

std::size_t id_place(const std::string& name) {
  return name.size() - kept_ending.size() - id_letters;
}

SavedOutput output_in(const Json& json, const Target& target) {
  const auto is_letter = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  };
  const auto id = json.at("id").get<std::string>();
  if (id.size() != id_letters || !std::ranges::all_of(id, is_letter)) {
    throw Error(ErrorKind::bad_input, "a checkpoint is damaged: its output has no name");
  }
  std::string name = new_kept_name(target.path);
  name.replace(id_place(name), id_letters, id);
  SavedOutput output{{std::move(name), integer_in<std::uint64_t>(json.at("bytes"))}, {}};
  if (json.contains("whole")) output.whole = identity_in(json.at("whole"));
  return output;
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
std::string jobs_of(const Json& question) {
  std::string text;
  for (const Json& each : question.at("checkpoint")) {
    const std::string name = each.at(0).get<std::string>();
    const std::string settings = each.at(1).get<std::string>();
    text += (text.empty() ? "" : " and ") + name;
    if (!settings.empty()) text += " (" + settings + ")";
  }
  return text + described_outputs(question);
}

/// Returns a text that differs for other places of the bytes, and is short whatever their number.
std::string fingerprint_of(const StorageMap& storage) {
  std::uint64_t hash = 0;
  for (const Extent& extent : storage) {
    const std::array<std::uint64_t, 4> place{hash, extent.file, extent.offset, extent.bytes};
    hash = xxh3_64(std::as_bytes(std::span(place)));
  }
  return std::to_string(storage.bytes()) + " bytes in " + std::to_string(storage.size()) + ", " +
         std::to_string(hash);
}

}  // namespace

Json question_of(std::span<const PassInput> inputs, std::span<const OperatorQuestion> operators,
                 std::span<const Target> targets) {
  Json asked = Json::array(), data = Json::array(), outputs = Json::array();
  for (const auto& [name, settings, input] : operators) asked.push_back({name, settings, input});
  for (const PassInput& input : inputs) {
    Json moves = Json::array();
    for (const FieldMove& move : input.decoding.moves) {
      moves.push_back({move.from, move.to, move.bytes, move.swapped_bytes});
    }
    data.push_back({{"type", input.source.type() ? code_of(*input.source.type()) : ""},
                    {"record", input.record.bytes},
                    {"struct", input.decoding.bytes},
                    {"fields", std::move(moves)},
                    {"storage", fingerprint_of(storage_of(input.source))}});
  }
  for (const Target& target : targets) {
    Json shape = Json::array();
    for (const std::uint64_t length : target.shape) shape.push_back(std::to_string(length));
    outputs.push_back({{"name", target.path.filename().string()},
                       {"type", code_of(target.known_type())},
                       {"shape", std::move(shape)}});
  }
  Json question{{"checkpoint", std::move(asked)},
                {"first", std::to_string(records_before(inputs.front()))},
                {"data", std::move(data)}};
  if (!outputs.empty()) question["outputs"] = std::move(outputs);
  return question;
}

Json json_of(const SavedOutput& output) {
  const std::string& name = output.file.name;
  Json json{{"id", name.substr(id_place(name), id_letters)},
            {"bytes", std::to_string(output.file.bytes)}};
  if (output.whole) json["whole"] = json_of(*output.whole);
  return json;
}

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

std::vector<std::byte> described_pass(const PartFile& pass) {
  Json inputs = Json::array();
  for (const FileIdentity& file : pass.input) inputs.push_back(json_of(file));
  const Json said{{"question", pass.question}, {"about", pass.about}, {"input", std::move(inputs)}};
  const std::string text = said.dump(-1, ' ', true, Json::error_handler_t::replace);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
PartFile pass_in(std::span<const std::byte> bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const Json said = Json::parse(text, text + bytes.size());
  PartFile pass{.question = said.at("question").get<std::string>(),
                .about = said.at("about").get<std::string>()};
  for (const Json& file : said.at("input")) pass.input.push_back(identity_in(file));
  return pass;
}

bool has_outputs(const PartFile& saved) {
  const Json about = Json::parse(saved.about);
  return about.is_object() && about.contains("outputs");
}

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
  std::string of_what, of_this = jobs_of(other);
  try {
    of_what = jobs_of(one);
    for (const Json& data : one.at("data")) static_cast<void>(data.at("storage"));
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

}  // namespace ooc::detail
