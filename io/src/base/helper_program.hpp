#pragma once

#include <ooc/detail/base/units.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace ooc::detail {

/// The most that a helper program may take.
struct HelperLimits {
  std::uint64_t memory_bytes = GiB;        ///< of address space
  std::uint64_t output_bytes = 256 * MiB;  ///< that it prints, and that it complains
  std::chrono::milliseconds time{30'000};  ///< until it has ended; as much time of the processor
};

/// How a helper program has ended.
struct HelperRun {
  std::string failure;  ///< why its output is not to be used: "signal 11 ended it"; else empty
  std::string output;
  std::string complaint;  ///< the first line of its standard error
};

/// Returns the path of a helper program: the value of the environment variable `variable`. Else
/// that of the program `name` in the directory of this program or library, or in libexec/ooc beside
/// that or beside the one above. Empty if it is in none of them.
std::filesystem::path find_helper(const std::string& name, const char* variable);

/// Runs a program with one argument, no standard input and no other environment than LANG, and
/// waits for it, at most as long as it may take. Then it, and what it has started, is killed.
/// Thread-safe. Throws Error(input) if it cannot be started.
HelperRun run_helper(const std::filesystem::path& program, const std::string& argument,
                     const HelperLimits& limits = {});

}  // namespace ooc::detail
