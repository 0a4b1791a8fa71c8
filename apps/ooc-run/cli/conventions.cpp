#include "cli/conventions.hpp"

#include <array>

namespace ooc_run {
namespace {

constexpr std::array<std::string_view, 3> examples{
    "ooc-run gen -o test.f32 --size 1G",
    "ooc-run histogram test.f32",
    "ooc-run reduce --json test.f32",
};

constexpr std::array all_topics{
    Topic{"Sizes",
          "K M G T and KiB MiB GiB TiB are binary, KB MB GB TB decimal. Counts of elements: 1e6, "
          "1_000_000, and K M G T decimal."},
    Topic{"Types",
          "NumPy's codes and names, with byte order if wanted: >f4, uint16; also f32, u16. Endings "
          "of raw files count bits, as .u8 .i16 .f32 .bf16; others mean plain bytes."},
    Topic{"Standard input",
          "histogram and reduce read it as the file -, once, with --dtype. A histogram of it needs "
          "--range, but for u1 and i1."},
    Topic{
        "Names",
        "Control characters of a file's name are shown as \\x1b or \\u202e. In JSON, a byte that "
        "is not UTF-8 is U+FFFD and its two hexadecimal digits, and so is each of the three bytes "
        "of U+FFFD itself."},
    Topic{"Notes",
          "A result ends with one line: bytes, time, rate, device, and how the data was read. The "
          "reasons for it are shown with -v, by --explain, in JSON and in a report."},
    Topic{"Environment",
          "Every option can also be set by an environment variable, OOC_CHUNK for --chunk or "
          "OOC_QUIET=1 for --quiet; the command line wins. NO_COLOR is honoured."},
};

constexpr std::array all_exit_codes{
    ExitCode{"0", "done"},
    ExitCode{"1", "a bug"},
    ExitCode{"2", "wrong usage"},
    ExitCode{"3", "input not understood"},
    ExitCode{"4", "input could not be read"},
    ExitCode{"5", "input changed while it was read"},
    ExitCode{"6", "output could not be written"},
    ExitCode{"7", "not enough memory for the limits given"},
    ExitCode{"8", "the GPU failed or is not usable"},
    ExitCode{"9", "the disk stalled"},
    ExitCode{"10", "verification failed"},
    ExitCode{"130/143", "interrupted"},
};

}  // namespace

std::span<const std::string_view> program_examples() {
  return examples;
}

std::span<const Topic> topics() {
  return all_topics;
}

std::span<const ExitCode> exit_codes() {
  return all_exit_codes;
}

}  // namespace ooc_run
