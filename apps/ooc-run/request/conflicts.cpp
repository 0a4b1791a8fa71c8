#include "request/conflicts.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "cli/failure.hpp"

namespace ooc_run {
namespace {

/// Returns the path of an input, which may have the name of an array behind it.
std::filesystem::path path_of(const std::string& input) {
  return ooc::detail::selector_of(input).path;
}

/// True if both paths lead to the same file. If it does not exist yet, compares canonical paths.
bool same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::error_code failed;
  const auto name = [&](const std::filesystem::path& path) {
    const std::filesystem::path absolute =
        std::filesystem::absolute(ooc::detail::follow_links(path), failed);
    const std::filesystem::path real = std::filesystem::weakly_canonical(absolute, failed);
    return failed ? absolute.lexically_normal() : real;
  };
  return std::filesystem::equivalent(one, other, failed) || name(one) == name(other);
}

struct NamedFile {
  std::filesystem::path path;
  std::string_view option;  // "trace"
};

std::vector<NamedFile> named(const RunSettings& run) {
  const SideFiles& files = run.side_files;
  std::vector<NamedFile> all;
  if (files.trace) all.push_back({*files.trace, "trace"});
  if (files.report) all.push_back({*files.report, "report"});
  if (files.plot) all.push_back({*files.plot, "plot"});
  if (run.checkpoint) all.push_back({run.checkpoint.file, "resume"});
  return all;
}

/// Refuses a side file that is also an input, the output or another side file.
void refuse_shared_files(const RunSettings& run, const std::filesystem::path& output) {
  const std::vector<NamedFile> side_files = named(run);
  for (const auto& [path, option] : side_files) {
    const auto refuse_if_same = [&](const std::filesystem::path& other, const std::string& use) {
      if (!same_file(other, path)) return;
      throw ooc::Error(ooc::ErrorKind::usage,
                       fmt::format("--{} {}: {}", option, path.string(), use),
                       {.path = path, .hint = "give it a file of its own"});
    };
    for (const std::string& file : run.files) {
      refuse_if_same(path_of(file), "is a file of the data");
    }
    if (!output.empty()) refuse_if_same(output, "is the file of -o");
    for (const auto& [other, other_option] : side_files) {
      if (other_option == option) continue;
      refuse_if_same(other, fmt::format("is the file of --{}", other_option));
    }
  }
}

/// Refuses "u8" and "i8" for files with that extension: as NumPy's codes they mean 8 bytes, as
/// extensions 8 bits.
void refuse_ambiguous_type(const RunSettings& run) {
  const std::string& word = run.type_word;
  if (word != "u8" && word != "i8") return;
  const std::string_view kind = word == "u8" ? "uint" : "int";
  for (const std::filesystem::path path : run.files) {
    if (ooc::ending_of(path) != "." + word) continue;
    throw ooc::Error(
        ooc::ErrorKind::usage,
        fmt::format("{}: {} in NumPy's code is 64 bits, the ending .{} says 8 bits", path.string(),
                    word, word),
        {.path = path, .hint = fmt::format("say --dtype {}8 or --dtype {}64", kind, kind)});
  }
}

void refuse(const RunSettings& run, const std::filesystem::path& output) {
  refuse_ambiguous_type(run);
  refuse_shared_files(run, output);
}

template <class AnyRequest>
void refuse(const AnyRequest& request) {
  refuse(request.run, {});
}

void refuse(const ConvertRequest& request) {
  const ooc::Target& target = request.target;
  if (!target.shape.empty() && !target.is_npy()) {
    refuse_usage(fmt::format("{}: only a .npy file has a shape", target.path.string()),
                 "leave out --shape, or let the name end in .npy");
  }
  refuse(request.run, target.path);
}

void refuse(const GramRequest& request) {
  refuse(request.run, request.target.path);
}

void refuse(const ScanRequest& request) {
  refuse(request.run, request.target.path);
}

void refuse(const SplitRequest& request) {
  for (const ooc::Target& target : request.split.targets) refuse(request.run, target.path);
}

void refuse(const FilterRequest& request) {
  const auto& [range, mask, targets] = request.filter;
  refuse(request.run, targets.kept.path);
  if (!targets.rest) return;
  refuse(request.run, targets.rest->path);
  if (!same_file(targets.kept.path, targets.rest->path)) return;
  throw ooc::Error(ooc::ErrorKind::usage,
                   fmt::format("--rest {}: is the file of -o", targets.rest->path.string()),
                   {.path = targets.rest->path, .hint = "give it a file of its own"});
}

void refuse(const MatmulRequest& request) {
  refuse(request.run, request.target.path);
}

template <class FoldRequest>
void refuse_of_fold(const FoldRequest& request) {
  const std::filesystem::path output = request.shard ? request.shard->output : "";
  const auto refuse_output = [&](const std::filesystem::path& file, std::string_view what) {
    if (output.empty() || file.empty() || !same_file(output, file)) return;
    throw ooc::Error(ooc::ErrorKind::usage, fmt::format("-o {}: is {}", output.string(), what),
                     {.path = output, .hint = "give it a file of its own"});
  };
  for (const std::string& file : request.run.files) {
    refuse_output(path_of(file), "a file of the data");
  }
  if (request.shard) refuse_output(request.shard->after, "the part of --after");
  refuse(request.run, output);
}

template <class FoldRequest>
requires requires(const FoldRequest& request) {
  request.shard;
}
void refuse(const FoldRequest& request) {
  refuse_of_fold(request);
}

void refuse(const ReduceRequest& request) {
  if (request.by_row) return refuse(request.run, request.by_row->target.path);
  refuse_of_fold(request);
}

void refuse(const HistogramRequest& request) {
  HistogramRequest all = request;  // no other file may be the weights, either
  if (request.weights) all.run.files.push_back(*request.weights);
  refuse_of_fold(all);
}

void refuse(const MergeRequest& request) {
  refuse(request.run, request.target);
}

void refuse(const BenchRequest& request) {
  if (request.run.devices.size() > 1) {
    refuse_usage("--device: bench measures one device at a time",
                 "run it once for each, as with --device cuda:1");
  }
  refuse(request.run, {});
}

void refuse(const GenRequest& request) {
  const Generator& generator = request.generator;
  if (generator.pattern == Pattern::constant) generator.check();
}

}  // namespace

void refuse_conflicts(const Request& request) {
  std::visit([](const auto& each) { refuse(each); }, request);
}

}  // namespace ooc_run
