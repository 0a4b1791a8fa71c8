#pragma once

#include <ooc/detail/parts/checkpoint_file.hpp>
#include <ooc/detail/parts/part_file.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/target.hpp>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

// The JSON of a checkpoint's file, and of ranks that begin a pass.

namespace ooc::detail {

using Json = nlohmann::ordered_json;

/// The hint for a file that is refused.
inline constexpr const char* begin_anew = "without the file, the job begins anew";

/// Returns the operators, the records and the outputs of a pass. Findings can be used only if these
/// are the same.
Json question_of(std::span<const PassInput> inputs, std::span<const OperatorQuestion> operators,
                 std::span<const Target> targets);

Json json_of(const SavedOutput& output);

/// Returns the outputs that a file lists, for these targets. Throws Error(bad_input) if it is
/// damaged.
std::vector<SavedOutput> outputs_in(const PartFile& saved, std::span<const Target> targets);

/// Write and read the message in which a rank describes its pass and its data.
std::vector<std::byte> described_pass(const PartFile& pass);
PartFile pass_in(std::span<const std::byte> bytes);

bool has_outputs(const PartFile& saved);

/// Returns the hint for a file that is refused, which names the outputs that are kept with it.
std::string hint_for(const PartFile& saved);

/// Throws Error(usage) for the findings of another job, unless the data have another size.
void require_same_job(const std::filesystem::path& path, const PartFile& saved,
                      const std::string& wanted, bool has_other_size);

}  // namespace ooc::detail
