#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <ooc/error.hpp>
#include <system_error>
#include <utility>

#include "cli/command_options.hpp"
#include "cli/examples.hpp"
#include "cli/shared_options.hpp"
#include "cli/suggest.hpp"
#include "cli/target_options.hpp"

namespace ooc_run {
namespace {

constexpr std::array all_commands{
    Command{"histogram", "FILE... [options]", "count values in bins, as numpy.histogram does",
            FileWords::some, histogram_examples,
            "Counts values as numpy.histogram does, converted to float64, for every element\n"
            "type: bins are closed at the left and open at the right, the last one closed.\n"
            "-Inf and values below the range count as below, +Inf and values above it as\n"
            "above, NaN as nan.\n"
            "Without --range there are two passes: the first finds the minimum and the\n"
            "maximum (but u1 and i1 have the ranges 0:256 and -128:128), and a GPU keeps what\n"
            "fits its memory for the second. --bins sqrt, sturges, scott, fd or auto is the\n"
            "rule of that name of numpy.histogram_bin_edges, for the finite values, from\n"
            "minimum to maximum. The first three take two passes, too; fd and auto look for\n"
            "the quartiles as ooc-run quantile does, and count in one pass more. Several\n"
            "files are one dataset, in the order given.\n"
            "--weights W adds element i of W to the bin of value i, as weights=w of NumPy,\n"
            "but exactly: integers of any length, or the nearest double to the sum of floats.\n"
            "A raw W has the type that its ending names, else that of --dtype. --verify\n"
            "reads the data once more and compares each value with the edges: an\n"
            "independent, slower method."},
    Command{"reduce", "FILE... [options]", "sum, minimum, maximum, mean, variance in one pass",
            FileWords::some, reduce_examples,
            "Sums of integers are exact. Sums of floats, mean and (population) variance have\n"
            "the same bits for any chunk size, number of streams or threads, engine and\n"
            "device. A NaN makes the statistics NaN, as in NumPy, unless --nan omit leaves\n"
            "it out; infinities are counted. --exact takes longer and rounds sum and mean\n"
            "once, from their exact values. Several files are one dataset, in the order\n"
            "given. --verify reads the data once more and adds exactly, one value after\n"
            "another: an independent, slower method. Floats may differ by what rounding\n"
            "explains.\n"
            "--axis 0 takes the statistics of each column of rows, as axis=0 of NumPy.\n"
            "--axis 1 writes one of them for each row to a file: the one that this command\n"
            "finds for the row alone, with the same bits. Sums of integers wrap around there,\n"
            "as in NumPy.\n"
            "--histogram N also counts as ooc-run histogram does, in the same pass. Without\n"
            "--range, one more pass before it finds the minimum and the maximum (but not of\n"
            "u1 and i1), as it does for a rule, such as --histogram scott.\n"
            "--q finds quantiles as ooc-run quantile does: the first of its passes is that\n"
            "of the statistics.\n"
            "ooc-run stats is another name of this command."},
    Command{"quantile", "FILE... [options]", "exact quantiles, as numpy.quantile finds them",
            FileWords::some, quantile_examples,
            "Finds the quantiles of all values, converted to float64, without sorting them:\n"
            "each pass counts the values by some bits of their order, and the next one looks\n"
            "only where the quantiles lie. Types of one or two bytes take one pass, four\n"
            "bytes two, eight bytes four (more for many quantiles at once); a GPU keeps what\n"
            "fits its memory. The methods are those of numpy.quantile. lower, higher, nearest\n"
            "and inverted_cdf give a value of the data: of integers, all digits. A NaN makes\n"
            "all quantiles NaN, as in NumPy, unless --nan omit leaves it out. --plot draws\n"
            "the distribution, by all percentiles. Several files are one dataset. --verify\n"
            "reads the data once more and counts what is below and equal to each value\n"
            "found: an independent, slower method. Each pass of a --shard is a round of its\n"
            "own: merge -o joins its parts for --after in the next one."},
    Command{"top", "FILE... [options]", "largest or smallest values, and their places",
            FileWords::some, top_examples,
            "Finds the k largest values, or the smallest, and the index of each, in one pass:\n"
            "the best value first, equal ones by their index, as nlargest(k, keep=\"first\") of\n"
            "pandas. The order is that of numbers, with -0 before +0. NaN is counted and left\n"
            "out. Integers have all digits. Several files are one dataset, in the order\n"
            "given, and so are indices. --verify reads the data once more and counts the\n"
            "values that are not behind the last one: an independent, slower method."},
    Command{"distinct", "FILE... [options]", "number of distinct values, and the frequent ones",
            FileWords::some, distinct_examples,
            "Counts the distinct values in one pass, as numpy.unique does: all NaN are one\n"
            "value, and -0 equals +0. --counts N also finds the N most frequent values: of\n"
            "equal counts the smaller value comes first, and NaN last. Values of four and\n"
            "eight bytes are kept in a table in memory, 12 to 24 bytes for each, twice as\n"
            "many with --counts. If it has no room for all, the run ends with an error that\n"
            "tells how many there are about. --estimate finds that number in little memory,\n"
            "by HyperLogLog with a standard error of 0.81 %. Several files are one dataset.\n"
            "--verify reads the data once more and counts in ordinary maps, or several times\n"
            "if these do not fit in memory: an independent, slower method."},
    Command{"hist2d", "FILE | X Y [options]", "counts of pairs of numbers, in cells",
            FileWords::some, hist2d_examples,
            "Counts pairs in cells exactly as numpy.histogram2d does for values as float64.\n"
            "The numbers of a pair are two columns of rows, two fields of structs, or the\n"
            "elements with the same place in two files, of any types. Pairs with a NaN, and\n"
            "those outside of the ranges, are counted beside the cells. A range that is not\n"
            "given (--ranges ,0:1) is found by a pass before. There are at most 16777216\n"
            "cells. The picture sums neighbouring ones if the terminal has no room for all.\n"
            "--verify counts each pair by itself: an independent, slower method."},
    Command{"merge", "PART... [options]", "join the parts of shards: see --shard", FileWords::some,
            merge_examples,
            "Prints what the command would have printed for all of the data, with the same\n"
            "bits, from the parts that its shards have written: on one machine or many, with\n"
            "any device. The order of the parts does not matter. It refuses parts of another\n"
            "question or other data, values that two parts cover, and values that none does.\n"
            "-o joins some of them to a larger part. A part is a file that appears whole or\n"
            "not at all, so a shard that failed is computed once more."},
    Command{"matmul", "A B -o C [options]", "product of two matrices, all three on disk",
            FileWords::some, matmul_examples,
            "C = A B for matrices of one type (f2, bf16, f4, f8), by rows in .npy or raw\n"
            "files that may be far larger than memory. Which matrix stays on the device is\n"
            "chosen for the least time; --explain prints the choice and the reasons. Sums are\n"
            "formed in f64 for f8 and else in f32, unless --compute says otherwise (tf32 and\n"
            "bf16: tensor cores of a GPU); C is f8 for f64 and else f4. --verify compares\n"
            "A (B x) and C x for random vectors x (Freivalds' check). The output appears when\n"
            "all of it is on the disk."},
    Command{"gram", "FILE... -o OUT [options]", "X^T X: the products of all pairs of columns",
            FileWords::some, gram_examples,
            "Writes a matrix of float64 with a row and a column for each column of the data,\n"
            "as X.T @ X of the values as float64. Products of blocks of rows are added in\n"
            "their order: the bits are the same for any chunk size and number of streams, but\n"
            "may differ between the CPU, a GPU and versions of their libraries (OpenBLAS,\n"
            "cuBLAS). The matrix stays in memory; at most 32,768 columns are possible. Raw\n"
            "data need --columns. Several files are one dataset, in the order given. --verify\n"
            "reads the data twice and compares products with random vectors. The output\n"
            "appears when all of it is on the disk."},
    Command{"cov", "FILE... -o OUT [options]", "the covariance matrix of the columns",
            FileWords::some, cov_examples,
            "Writes numpy.cov(X, rowvar=False): sums of products of distances from the mean,\n"
            "divided by the number of rows minus one, in float64. Means that are large beside\n"
            "the distances cost no digits: a number near the mean is subtracted first. All\n"
            "else is as for gram: see ooc-run gram --help. A column with NaN or infinity has\n"
            "NaN as covariances. Data of one row have none, which is an error."},
    Command{"convert", "FILE... -o OUT [options]", "change type, byte order or format",
            FileWords::some, convert_examples,
            "Any type to any other, raw to .npy and back. Floats are rounded once, to nearest\n"
            "even; floats become integers by truncation, or the nearest value of the type if\n"
            "out of range (NaN: 0); integers that do not fit wrap around, as in NumPy, unless\n"
            "--clip keeps values beyond the type at its ends. Values that change are counted:\n"
            "rounded, overflowed and clipped ones; --strict refuses all of them. Several\n"
            "files are one dataset, in the order given. The output appears when all of it is\n"
            "on the disk."},
    Command{"scan", "FILE... -o OUT [options]", "running sum, minimum or maximum", FileWords::some,
            scan_examples,
            "Writes, for each element, the sum of all elements up to it, in the order of the\n"
            "file: as numpy.cumsum, in one dimension. Sums of integers are int64 (of uint64:\n"
            "uint64) and wrap around. Those of floats are float64, added in an order that\n"
            "only places in the file decide: they have the same bits for any chunk size,\n"
            "number of streams and device, and an error that does not grow with the file.\n"
            "--min and --max keep the type, as numpy.minimum.accumulate does: the first NaN\n"
            "stays, and -0 equals +0. Several files are one dataset, in the order given.\n"
            "--verify reads input and output once more, in step, and computes each value\n"
            "again: an independent, slower method. The output appears when all of it is on\n"
            "the disk."},
    Command{"split", "FILE... -o 'OUT-{}.npy' [options]", "divide records among many files",
            FileWords::some, split_examples,
            "Each record goes to one of 1 to 4096 files, in which records keep their order.\n"
            "--edges A,B: values below A go to file 0, from A to below B to file 1, others\n"
            "and NaN to file 2, as numpy.digitize numbers them; integers are compared\n"
            "exactly. --by: the integer in a field of structs, or in a column of rows, is the\n"
            "number of the file; a number that no file has is an error. --shuffle: at random,\n"
            "by the seed and the index of the record, the same on every machine. With --by\n"
            "and --shuffle, records of an array of several dimensions are its rows. {} in the\n"
            "name is the number of the file, with zeros before it, so that names sort. All\n"
            "files are written at the same time, and appear when all of them are on the\n"
            "disk."},
    Command{"filter", "FILE... -o OUT [options]", "keep some of the values or records",
            FileWords::some, filter_examples,
            "Writes the values that lie in a range, in their order, as NumPy's boolean\n"
            "indexing does: x[(x > A) & (x < B)]. NaN is in no range. Integers are compared\n"
            "exactly. With --by, whole structs or rows are kept by one of their numbers;\n"
            "with --mask, by a number for each element or row in another file. --rest writes\n"
            "all others in the same pass, --indices the places as numpy.flatnonzero counts\n"
            "them. Without a range, --not-nan or --finite says what to keep. Dates are\n"
            "integers here, and NaT is the least one. --verify reads the data and the files\n"
            "once more and compares them record by record. The files appear when all of them\n"
            "are on the disk."},
    Command{"bench", "FILE [options]",
            "measure this machine's limits, and how near runs come to them", FileWords::some,
            bench_examples,
            "Measures each stage alone (disk, page cache, copies to a GPU and back, kernels)\n"
            "and, between those, histograms of the file's bytes: cold, warm, and one step\n"
            "after another on one thread. The file should be several times as large as a\n"
            "disk's cache, 8 GB say, and nothing else should run; its type does not matter.\n"
            "Results are kept in $XDG_CACHE_HOME/ooc (by default ~/.cache/ooc), and other\n"
            "commands compare their runs with them. 'Of limit' compares a rate with what the\n"
            "slowest stage would allow."},
    Command{"info", "FILE... [options]", "describe a dataset, and how it would be read",
            FileWords::some, info_examples,
            "Shows format, type, shape and size; how much of the data is in memory, and in\n"
            "how many extents it is on which disk; whether direct I/O is possible; and how\n"
            "histogram and reduce would read it now, with these options. For raw data without\n"
            "a type it reads up to 1 MiB and guesses the type; no command uses that guess.\n"
            "Several files are one dataset, in the order given."},
    Command{"doctor", "[PATH] [options]", "check what this machine can do and what is missing",
            FileWords::perhaps_one, doctor_examples,
            "Checks GPU, driver, memory, limits, kernel and io_uring, and tries direct I/O\n"
            "at PATH, a directory or a file (by default this directory). WARN: runs will be\n"
            "slower, or a feature is missing; the command that fixes it follows. FAIL: runs\n"
            "will end with an error; the exit code is then that of the error, else 0. With\n"
            "--device cuda a missing GPU is a failure. Changes nothing."},
    Command{"gen", "-o FILE --size SIZE [options]", "write test data with a known answer",
            FileWords::none, gen_examples,
            "The same seed makes the same bytes on every machine. Prints the exact sum of\n"
            "the elements, and the checksum that reduce --checksum finds in the file.\n"
            "Patterns: uniform (floats in [0, 1), integers over their whole range), normal\n"
            "(mean 0, deviation 1; integers: middle and 1/16 of their range), sequence (0, 1,\n"
            "2, ..., again from 0 where the type ends), constant, zipf (many small, few\n"
            "huge), position (each 8 bytes are their own index)."},
};

constexpr std::array all_program_options{
    ProgramOption{"-h", "", "short help, also after a command (--help: with examples)"},
    ProgramOption{"--help", "", "long help, with examples", {}, true},
    ProgramOption{"--version", "", "version, and what was compiled in"},
    ProgramOption{"--generate", "WHAT", "print {}", generated_names, true},
};

constexpr std::array<std::string_view, 11> group_titles{"statistics", "bins",    "product", "merge",
                                                        "file",       "measure", "input",   "run",
                                                        "parts",      "tuning",  "output"};

std::string fill_in(std::string_view help, std::span<const std::string_view> values) {
  const std::size_t at = help.find("{}");
  if (at == std::string_view::npos || values.empty()) return std::string(help);
  return fmt::format("{}{}{}", help.substr(0, at), fmt::join(values, ", "), help.substr(at + 2));
}

[[noreturn]] void refuse_option_before_command(std::string_view word) {
  std::vector<std::string_view> words;
  for (const ProgramOption& option : program_options()) words.push_back(option.word);
  const bool is_version = word == "-V" || word == "-v";
  const std::string_view near = is_version ? "--version" : nearest(word, words);
  throw ooc::Error(
      ooc::ErrorKind::usage, fmt::format("unknown option '{}' before a command", word),
      {.hint = near.empty() ? "options follow the command: ooc-run histogram FILE --json"
                            : fmt::format("did you mean {}?", near)});
}

}  // namespace

std::span<const Command> commands() {
  return all_commands;
}

std::span<const ProgramOption> program_options() {
  return all_program_options;
}

const Command* command_named(std::string_view name) {
  const auto alias = std::ranges::find(command_aliases, name, &CommandAlias::name);
  if (alias != command_aliases.end()) name = alias->command;
  const auto found = std::ranges::find(all_commands, name, &Command::name);
  return found == all_commands.end() ? nullptr : &*found;
}

std::vector<std::string_view> aliases_of(const Command& command) {
  std::vector<std::string_view> names;
  for (const CommandAlias& alias : command_aliases) {
    if (alias.command == command.name) names.push_back(alias.name);
  }
  return names;
}

const Command& find_command(std::string_view name) {
  if (const Command* const command = command_named(name)) return *command;
  std::vector<std::string_view> names{"help"};
  for (const Command& command : commands()) names.push_back(command.name);
  for (const CommandAlias& alias : command_aliases) names.push_back(alias.name);
  if (name.starts_with('-')) refuse_option_before_command(name);
  if (name == "version") {
    throw ooc::Error(ooc::ErrorKind::usage, "unknown command 'version'",
                     {.hint = "did you mean --version?"});
  }
  const std::string_view near = nearest(name, names);
  std::string hint = "ooc-run -h lists the commands";
  const std::string_view ours = command_for(name);
  if (!ours.empty()) hint = ours;
  std::error_code failed;
  if (std::filesystem::exists(name, failed)) {
    hint = fmt::format("a command comes first: ooc-run histogram {}",
                       ooc::shell_word(std::string(name)));
  }
  if (ours.empty() && !near.empty()) hint = fmt::format("did you mean '{}'?", near);
  throw ooc::Error(ooc::ErrorKind::usage, fmt::format("unknown command '{}'", name),
                   {.hint = hint});
}

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

std::vector<OptionGroup> groups_of(const Command& command) {
  std::vector<OptionGroup> groups;
  for (std::size_t i = 0; i < group_titles.size(); ++i) {
    OptionGroup group{group_titles[i], {}};
    const auto is_here = [&](const Option& option) {
      return option.group == Group{static_cast<int>(i)} && has_word(option.commands, command.name);
    };
    std::ranges::copy_if(command_options, std::back_inserter(group.options), is_here);
    std::ranges::copy_if(target_options, std::back_inserter(group.options), is_here);
    std::ranges::copy_if(shared_options, std::back_inserter(group.options), is_here);
    if (!group.options.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options;
  for (const OptionGroup& group : groups_of(command)) {
    options.insert(options.end(), group.options.begin(), group.options.end());
  }
  return options;
}

std::string help_of(const Option& option) {
  return fill_in(option.help, option.values);
}

std::string help_of(const ProgramOption& option) {
  return fill_in(option.help, option.values);
}

std::string environment_name(std::string_view option) {
  std::string name = "OOC_";
  for (const char letter : option) {
    const bool small = letter >= 'a' && letter <= 'z';
    name += letter == '-' ? '_' : small ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return name;
}

}  // namespace ooc_run
