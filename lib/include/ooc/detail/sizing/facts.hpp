#pragma once

#include <ooc/detail/dataset/residency.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/detail/pass/pass_input.hpp>
#include <ooc/detail/pool/plan.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ooc::detail {

/// The reason why files cannot be read directly, and the error to throw if that was asked for.
struct NotDirect {
  std::string why;
  Error error;
};

/// The facts about a source, or about all inputs of a pass, that sizes depend on.
struct SourceFacts {
  std::vector<InputStorage> inputs{};
  std::optional<NotDirect> not_direct{};
  bool any_direct = true;          // some file can be read directly
  std::optional<double> cached{};  // fraction in the page cache; empty: not known
  std::vector<CachedRun> runs{};   // of one source, if a part is cached
  double holes = 0;                // fraction
  std::string server{};            // of a remote file, if there is one
  /// The source is a producer of unknown size, and `inputs` has more bytes than any producer.
  bool is_produced = false;
  bool needs_threads = false;     // an array is among its files, which only threads read
  bool decodes = false;           // some input is stored encoded
  std::uint64_t piece_bytes = 0;  // of the longest band of encoded arrays; 0: there are none
  std::uint64_t kept_bytes = 0;   // of their decoded pieces
  bool is_regular = true;         // chunks that end with pieces keep but one decoded

  std::uint64_t bytes() const;

  /// The fraction in the page cache, or 0.
  double cached_or_none() const { return cached.value_or(0); }
};

/// The facts about a file that a pass writes.
struct OutputFacts {
  std::size_t record_bytes = 0;
  std::uint64_t offset = 0;      // of the first record of the pass in the file
  std::string why_not_direct{};  // empty: it can be written directly
};

/// All that sizes depend on besides the user's wishes. Measured once before a pass.
struct Facts {
  DeviceFacts device{};
  bool device_starts = false;    // in the background, while a pass can read already
  std::uint64_t host_bytes = 0;  // of memory that is available; 0: not known
  SourceFacts source{};
  std::vector<OutputFacts> outputs{};
};

/// More than any producer makes, and few enough that sums of such sizes do not overflow (bytes).
inline constexpr std::uint64_t most_produced_bytes = std::uint64_t{1} << 56;

/// Measures the facts about a source, or about inputs. Reads no data.
SourceFacts facts_of(const Source& source);
SourceFacts facts_of(std::span<const PassInput> inputs);

OutputFacts facts_of(const OutputFile& file, std::uint64_t offset, std::size_t record_bytes);

}  // namespace ooc::detail
