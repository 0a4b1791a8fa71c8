#include <fmt/core.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ooc/io/error.hpp>
#include <ooc/io/output_file.hpp>
#include <ooc/io/units.hpp>
#include <semaphore>
#include <thread>
#include <vector>

#include "commands.hpp"
#include "generator.hpp"
#include "session.hpp"
#include "sizes.hpp"

namespace ooc_run {
namespace {

constexpr std::size_t block_bytes = 4 * ooc::MiB;

/// NumPy allows padding; at 4096 the data is aligned for direct I/O.
constexpr std::size_t npy_header_bytes = 4096;

constexpr std::array<std::string_view, 6> pattern_names{"uniform",  "normal", "sequence",
                                                        "constant", "zipf",   "position"};

struct Job {
  std::filesystem::path path;
  Generator generator;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // of data
  bool npy = false;
  bool replace = false;
  std::size_t threads = 1;
};

struct Answer {
  ooc::int128 sum = 0;
  std::uint64_t checksum = 0;
  double seconds = 0;
};

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw ooc::Error(ooc::Cause::usage, message, {.hint = hint});
}

Pattern parse_pattern(std::string_view text) {
  constexpr std::array patterns{Pattern::uniform,  Pattern::normal, Pattern::sequence,
                                Pattern::constant, Pattern::zipf,   Pattern::position};
  return patterns[Choice{"uniform", "normal", "sequence", "constant", "zipf", "position"}(text)];
}

/// The type that the ending of a raw file names: .f32, .u8, .bf16.
std::optional<ooc::DType> type_of_ending(const std::filesystem::path& path) {
  struct Ending {
    std::string_view ending;
    ooc::ElementType element;
  };
  using enum ooc::ElementType;
  constexpr std::array endings{Ending{".u8", u1},  Ending{".u16", u2}, Ending{".u32", u4},
                               Ending{".u64", u8}, Ending{".i8", i1},  Ending{".i16", i2},
                               Ending{".i32", i4}, Ending{".i64", i8}, Ending{".f16", f2},
                               Ending{".f32", f4}, Ending{".f64", f8}, Ending{".bf16", bf16}};
  const auto found = std::ranges::find(endings, path.extension().string(), &Ending::ending);
  if (found == endings.end()) return {};
  return ooc::DType{found->element};
}

ooc::DType choose_type(const Arguments& arguments, const Job& job) {
  const std::optional<ooc::DType> asked = arguments.get("dtype", ooc::parse_dtype);
  const std::optional<ooc::DType> named = type_of_ending(job.path);
  if (asked && named && asked->element != named->element) {
    refuse(fmt::format("{}: the ending names {}, --dtype says {}", job.path.string(),
                       ooc::name_of(named->element), ooc::name_of(asked->element)),
           "who reads it would take it for the former; .bin names no type");
  }
  if (asked && job.npy && asked->element == ooc::ElementType::bf16) {
    refuse("bf16 cannot be in a .npy file", "NumPy has no code for it; write .bf16");
  }
  const ooc::DType otherwise{job.npy ? ooc::ElementType::f4 : ooc::ElementType::u1};
  return asked ? *asked : named.value_or(otherwise);
}

void choose_length(const Arguments& arguments, Job& job) {
  const std::optional<std::uint64_t> size = arguments.get("size", parse_bytes);
  const std::optional<std::uint64_t> count = arguments.get("count", parse_count);
  if (size.has_value() == count.has_value()) {
    refuse(size ? "--size and --count exclude each other" : "how much? Neither --size nor --count",
           "ooc-run gen -o FILE --size 1G");
  }
  const std::size_t element_bytes = ooc::size_of(job.generator.type.element);
  if (size && *size % element_bytes != 0) {
    refuse(
        fmt::format("--size {}: not a whole number of elements of {} bytes", *size, element_bytes),
        "--count gives the number of elements");
  }
  job.count = count ? *count : *size / element_bytes;
  if (__builtin_mul_overflow(job.count, element_bytes, &job.bytes) || job.bytes >> 62 != 0) {
    refuse("so large a file there cannot be", {});
  }
}

Job read_job(const Arguments& arguments) {
  Job job;
  const auto output = arguments.get("output", [](const std::string& text) { return text; });
  if (!output || output->empty()) refuse("no output file given", "ooc-run gen -o FILE --size 1G");
  job.path = *output;
  job.npy = job.path.extension() == ".npy";
  job.replace = arguments.has("force");
  job.generator.type = choose_type(arguments, job);
  job.generator.pattern = arguments.get("pattern", parse_pattern).value_or(Pattern::uniform);
  job.generator.seed = arguments.get("seed", parse_count).value_or(0);
  job.generator.value = arguments.get("value", parse_integer).value_or(1);
  if (job.generator.pattern == Pattern::constant) job.generator.check();
  choose_length(arguments, job);
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  job.threads = arguments.get("threads", positive_count).value_or(cores);
  job.threads = std::min<std::size_t>(
      job.threads, std::max<std::uint64_t>(1, ooc::divide_up(job.bytes, block_bytes)));
  return job;
}

std::vector<std::byte> npy_header(const Job& job) {
  const std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}",
                  ooc::code_of(job.generator.type), job.count);
  constexpr std::size_t prefix_bytes = 10;
  constexpr std::size_t text_bytes = npy_header_bytes - prefix_bytes;
  std::string header = "\x93NUMPY\x01";
  header += '\0';
  header += static_cast<char>(text_bytes & 0xff);
  header += static_cast<char>(text_bytes >> 8);
  header += dictionary;
  header.resize(npy_header_bytes - 1, ' ');
  header += '\n';
  const auto bytes = std::as_bytes(std::span(header));
  return {bytes.begin(), bytes.end()};
}

/// Makes and writes blocks on several threads, each the next one that nobody has begun.
class BlockWriters {
 public:
  BlockWriters(const Job& job, ooc::OutputFile& file) : job_(job), file_(file) {}

  Answer run(const Interrupt& interrupt, ProgressMeter& meter) {
    using namespace std::chrono_literals;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < job_.threads; ++i) {
        threads.emplace_back([this, token = interrupt.token()] { write_blocks(token); });
      }
      for (std::size_t left = threads.size(); left > 0;) {
        if (ended_.try_acquire_for(100ms)) --left;
        meter.update(bytes_written_.load(), job_.bytes);
      }
    }
    if (error_) std::rethrow_exception(error_);
    return answer_;
  }

 private:
  void write_blocks(const std::stop_token& interrupted) {
    try {
      const Answer mine = write_my_blocks(interrupted);
      const std::scoped_lock lock(mutex_);
      answer_.sum += mine.sum;
      answer_.checksum += mine.checksum;
    } catch (...) {
      failed_.store(true);
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    ended_.release();
  }

  Answer write_my_blocks(const std::stop_token& interrupted) {
    Answer mine;
    std::vector<std::byte> block(std::min<std::uint64_t>(block_bytes, job_.bytes));
    const std::size_t element_bytes = ooc::size_of(job_.generator.type.element);
    const std::uint64_t start = job_.npy ? npy_header_bytes : 0;
    for (;;) {
      const std::uint64_t offset = next_block_.fetch_add(1) * block_bytes;
      if (offset >= job_.bytes || failed_.load()) return mine;
      if (interrupted.stop_requested()) {
        throw ooc::Error(ooc::Cause::interrupted, "interrupted; nothing was written");
      }
      const std::span data(block.data(), std::min(block_bytes, job_.bytes - offset));
      mine.sum += job_.generator.fill(offset / element_bytes, data);
      mine.checksum += checksum(offset, data);
      file_.write(start + offset, data);
      bytes_written_.fetch_add(data.size());
    }
  }

  const Job& job_;
  ooc::OutputFile& file_;
  std::atomic<std::uint64_t> next_block_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
  std::atomic<bool> failed_{false};
  std::counting_semaphore<> ended_{0};
  std::mutex mutex_;  // of the next two
  Answer answer_;
  std::exception_ptr error_;
};

/// The sum as a double, rounded once.
double rounded_sum(const Job& job, const Answer& answer) {
  return std::ldexp(static_cast<double>(answer.sum),
                    -static_cast<int>(job.generator.fraction_bits()));
}

bool is_float(const Job& job) {
  return ooc::visit(job.generator.type.element,
                    []<class T>(std::type_identity<T>) { return ooc::is_floating<T>; });
}

Json describe(const Job& job, const Answer& answer) {
  Json json{{"path", job.path.string()},
            {"bytes", job.bytes},
            {"count", job.count},
            {"dtype", ooc::code_of(job.generator.type)},
            {"pattern", pattern_names[static_cast<std::size_t>(job.generator.pattern)]},
            {"seed", job.generator.seed},
            {"sum", nullptr},
            {"sum_numerator", nullptr},
            {"sum_denominator", nullptr},
            {"checksum", fmt::format("{:016x}", answer.checksum)}};
  if (!job.generator.has_sum()) return json;
  json["sum"] = is_float(job) ? json_number(rounded_sum(job, answer)) : json_integer(answer.sum);
  json["sum_numerator"] = json_integer(answer.sum);
  json["sum_denominator"] = std::uint64_t{1} << job.generator.fraction_bits();
  return json;
}

std::string describe_sum(const Job& job, const Answer& answer) {
  if (!job.generator.has_sum()) return "none of floats made of positions";
  std::string digits = group_digits(ooc::to_string(answer.sum));
  if (!is_float(job)) return digits;
  const std::string real = format_real(rounded_sum(job, answer));
  const unsigned bits = job.generator.fraction_bits();
  return bits == 0 ? real : fmt::format("{}  (exactly {} / 2^{})", real, digits, bits);
}

std::string describe_for_people(const Job& job, const Answer& answer) {
  const double rate = answer.seconds > 0 ? static_cast<double>(job.bytes) / answer.seconds : 0;
  return fmt::format(
      "{}: {} values of {}{}, {}, seed {}\n\n"
      "  sum       {}\n"
      "  checksum  {:016x}\n\n"
      "{} in {}, {}, {} {}\n",
      job.path.string(), group_digits(std::to_string(job.count)),
      ooc::name_of(job.generator.type.element), job.generator.type.swapped ? ", bytes swapped" : "",
      pattern_names[static_cast<std::size_t>(job.generator.pattern)], job.generator.seed,
      describe_sum(job, answer), answer.checksum, format_bytes(job.bytes),
      format_seconds(answer.seconds), format_both_rates(rate), job.threads,
      job.threads == 1 ? "thread" : "threads");
}

}  // namespace

Outcome run_gen(const Arguments& arguments, const Interrupt& interrupt) {
  const OutputSettings output = read_output_settings(arguments);
  const Job job = read_job(arguments);
  const auto began = std::chrono::steady_clock::now();
  ooc::OutputFile file(job.path, job.bytes + (job.npy ? npy_header_bytes : 0), job.replace);
  if (job.npy) file.write(0, npy_header(job));
  ProgressMeter meter(output.progress, 1);
  Answer answer = BlockWriters(job, file).run(interrupt, meter);
  file.publish();
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

  Outcome outcome;
  if (output.json) {
    const double rate = answer.seconds > 0 ? static_cast<double>(job.bytes) / answer.seconds : 0;
    outcome.document = document(
        "gen", nullptr, describe(job, answer),
        {{"threads", job.threads}, {"seconds", answer.seconds}, {"bytes_per_second", rate}});
  } else {
    outcome.document = describe_for_people(job, answer);
  }
  return outcome;
}

}  // namespace ooc_run
