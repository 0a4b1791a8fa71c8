#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ooc_run {

/// A part of the program that a build may lack.
struct OptionalPart {
  std::string_view key;   // in JSON
  std::string_view name;  // in texts
  bool is_there;
  std::string_view needs;  // Debian packages to build with it
};

std::span<const OptionalPart> optional_parts();

/// Returns, for example, "HTTP and S3; built without GPUs (a CUDA toolkit 13)".
std::string describe_parts(std::span<const OptionalPart> parts);

/// Returns the text of --version: version, compiler, devices, engines and libraries.
std::string describe_version();

}  // namespace ooc_run
