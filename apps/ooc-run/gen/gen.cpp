#include "gen/gen.hpp"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <ooc/detail/base/units.hpp>
#include <ooc/detail/checksum/checksum.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/pass/pass_threads.hpp>
#include <ooc/error.hpp>
#include <ooc/target.hpp>
#include <thread>
#include <vector>

#include "cli/failure.hpp"
#include "cli/sizes.hpp"
#include "cli/terminal.hpp"
#include "cli/type_words.hpp"
#include "dataset/generator.hpp"
#include "run/explanation.hpp"
#include "run/progress.hpp"

namespace ooc_run {
namespace {

constexpr std::size_t block_bytes = 4 * ooc::detail::MiB;

struct GenJob {
  ooc::Target target;
  Generator generator;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  // data without a header
  std::size_t threads = 1;
};

struct Answer {
  ooc::int128 sum = 0;
  std::string checksum;     // XXH3-128 of the data
  std::size_t threads = 0;  // that were started
  double seconds = 0;
};

GenJob job_of(const GenRequest& request) {
  GenJob job{.target = request.target, .generator = request.generator, .count = request.count};
  job.bytes = job.count * ooc::size_of(job.generator.type.element);
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t blocks =
      std::max<std::uint64_t>(1, ooc::detail::divide_up(job.bytes, block_bytes));
  job.threads = std::min<std::size_t>(request.threads.value_or(cores), blocks);
  return job;
}

std::uint64_t block_bytes_of(const GenJob& job) {
  return std::min<std::uint64_t>(block_bytes, job.bytes);
}

/// Returns the memory for blocks: each thread has one.
std::uint64_t memory_bytes_of(const GenJob& job) {
  return job.threads * block_bytes_of(job);
}

/// Generates and writes blocks on several threads. Each thread takes the next block not yet taken.
class BlockWriters {
 public:
  BlockWriters(const GenJob& job, ooc::detail::TargetFile& file) : job_(job), file_(file) {}

  Answer run(const Interrupt& interrupt, ProgressMeter& meter) {
    ooc::detail::PassThreads threads({&checksum_.turns()});
    start(threads, interrupt.token());
    threads.join([&] { meter.update({bytes_written_.load(), job_.bytes}); });
    answer_.checksum = checksum_.text();
    return answer_;
  }

 private:
  /// Starts up to job_.threads threads. Throws only if not even one can be started.
  void start(ooc::detail::PassThreads& threads, const std::stop_token& interrupted) {
    for (answer_.threads = 0; answer_.threads < job_.threads; ++answer_.threads) {
      try {
        threads.start([this, interrupted] { write_blocks(interrupted); });
      } catch (const std::exception&) {
        if (answer_.threads == 0) throw;
        return;
      }
    }
  }

  void write_blocks(const std::stop_token& interrupted) {
    const ooc::int128 sum = write_my_blocks(interrupted);
    const std::scoped_lock lock(mutex_);
    answer_.sum += sum;
  }

  /// Returns the sum of this thread's blocks. Throws Aborted if another thread failed.
  ooc::int128 write_my_blocks(const std::stop_token& interrupted) {
    ooc::int128 sum = 0;
    std::vector<std::byte> block(block_bytes_of(job_));
    const std::size_t element_bytes = ooc::size_of(job_.generator.type.element);
    for (;;) {
      if (interrupted.stop_requested()) {  // also checked after the last block
        throw ooc::Error(ooc::ErrorKind::interrupted, "interrupted; nothing was written");
      }
      const std::size_t index = next_block_.fetch_add(1);
      const std::uint64_t offset = index * block_bytes;
      if (offset >= job_.bytes) return sum;
      const std::span data(block.data(), std::min(block_bytes, job_.bytes - offset));
      sum += job_.generator.fill(offset / element_bytes, data);
      checksum_.add({.index = index, .memory = data, .segments = {data}});
      file_.write(file_.data_offset() + offset, data);
      bytes_written_.fetch_add(data.size());
    }
  }

  const GenJob& job_;
  ooc::detail::TargetFile& file_;
  ooc::detail::Checksum checksum_;
  std::atomic<std::size_t> next_block_{0};
  std::atomic<std::uint64_t> bytes_written_{0};
  std::mutex mutex_;  // guards answer_.sum
  Answer answer_;
};

/// Returns the sum as a double, rounded once.
double rounded_sum(const GenJob& job, const Answer& answer) {
  return std::ldexp(static_cast<double>(answer.sum),
                    -static_cast<int>(job.generator.fraction_bits()));
}

Json describe(const GenJob& job, const Answer& answer) {
  Json json{{"path", job.target.path.string()},
            {"bytes", job.bytes},
            {"count", job.count},
            {"dtype", ooc::code_of(job.generator.type)},
            {"pattern", pattern_names[static_cast<std::size_t>(job.generator.pattern)]},
            {"seed", job.generator.seed},
            {"sum", nullptr},
            {"sum_numerator", nullptr},
            {"sum_denominator", nullptr},
            {"checksum_xxh3_128", answer.checksum}};
  if (!job.generator.has_sum()) return json;
  json["sum"] = is_float(job.generator.type.element) ? json_number(rounded_sum(job, answer))
                                                     : json_integer(answer.sum);
  json["sum_numerator"] = json_integer(answer.sum);
  json["sum_denominator"] = std::uint64_t{1} << job.generator.fraction_bits();
  return json;
}

std::string describe_sum(const GenJob& job, const Answer& answer) {
  if (!job.generator.has_sum()) return "none of floats made of positions";
  std::string digits = group_digits(ooc::to_string(answer.sum));
  if (!is_float(job.generator.type.element)) return digits;
  const std::string real = format_real(rounded_sum(job, answer));
  const unsigned bits = job.generator.fraction_bits();
  return bits == 0 ? real : fmt::format("{}  (exactly {} / 2^{})", real, digits, bits);
}

std::string describe_for_people(const GenJob& job, const Answer& answer) {
  const double rate = answer.seconds > 0 ? static_cast<double>(job.bytes) / answer.seconds : 0;
  return fmt::format(
      "{}: {}, {}, seed {}\n\n"
      "  sum       {}\n"
      "  checksum  xxh3-128 {}\n\n"
      "{} in {}, {}, {}\n",
      printable(job.target.path.string()), describe_values(job.count, job.generator.type),
      pattern_names[static_cast<std::size_t>(job.generator.pattern)], job.generator.seed,
      describe_sum(job, answer), answer.checksum,
      format_decimal_bytes(static_cast<double>(job.bytes)), format_seconds(answer.seconds),
      format_rate(rate), format_count(answer.threads, "thread"));
}

std::vector<std::string> reasons_of(const GenJob& job, const GenRequest& request) {
  std::vector<std::string> reasons{
      "written through the page cache, and made safe on the disk before the file appears"};
  if (!request.threads) {
    const std::uint64_t blocks = ooc::detail::divide_up(job.bytes, block_bytes);
    reasons.push_back(job.threads == blocks ? "a thread for each block" : "a thread for each core");
  }
  return reasons;
}

/// Returns the answer to --explain. Opens the target as a dry run, which leaves no file.
Outcome explain_job(const GenJob& job, const GenRequest& request) {
  const ooc::detail::TargetFile file(job.target, job.count, {}, ooc::detail::Purpose::dry_run);
  const std::uint64_t blocks = ooc::detail::divide_up(job.bytes, block_bytes);
  const std::string_view pattern = pattern_names[static_cast<std::size_t>(job.generator.pattern)];
  const std::vector<std::string> reasons = reasons_of(job, request);
  Json plan{{"path", job.target.path.string()},
            {"bytes", job.bytes},
            {"count", job.count},
            {"dtype", ooc::code_of(job.generator.type)},
            {"pattern", pattern},
            {"seed", job.generator.seed},
            {"threads", job.threads},
            {"block_bytes", block_bytes},
            {"blocks", blocks},
            {"memory_bytes", memory_bytes_of(job)},
            {"prediction", nullptr},
            {"reasons", reasons}};
  return explain("gen", request.output, nullptr, {{"plan", std::move(plan)}},
                 fmt::format("{}: {}", printable(job.target.path.string()),
                             describe_values(job.count, job.generator.type)),
                 {{"pattern", fmt::format("{}, seed {}", pattern, job.generator.seed)},
                  {"writes", format_bytes(job.bytes)},
                  {"blocks", fmt::format("{} of {}", group_digits(std::to_string(blocks)),
                                         format_binary_bytes(block_bytes))},
                  {"threads", group_digits(std::to_string(job.threads))},
                  {"memory", format_bytes(memory_bytes_of(job)) + " for blocks"},
                  {"predicted", "not known: no command measures how fast files are written here"}},
                 reasons);
}

}  // namespace

Outcome run(const GenRequest& request, const Interrupt& interrupt) {
  const OutputSettings& output = request.output;
  const GenJob job = job_of(request);
  if (request.explain) return explain_job(job, request);
  const auto began = std::chrono::steady_clock::now();
  ooc::detail::TargetFile file(job.target, job.count, {});
  ProgressMeter meter(output.progress, 1);
  Answer answer = BlockWriters(job, file).run(interrupt, meter);
  file.commit();
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();

  Outcome outcome;
  outcome.written = printable(job.target.path.string());
  outcome.reasons = reasons_of(job, request);
  if (!file.note().empty()) outcome.notes.push_back(file.note());
  if (answer.threads < job.threads) {
    outcome.notes.push_back(
        fmt::format("only {} of {} threads could be started", answer.threads, job.threads));
  }
  if (output.json) {
    const double rate = answer.seconds > 0 ? static_cast<double>(job.bytes) / answer.seconds : 0;
    outcome.document = document(
        "gen", nullptr, describe(job, answer),
        {{"threads", answer.threads}, {"seconds", answer.seconds}, {"bytes_per_second", rate}});
  } else {
    outcome.document = describe_for_people(job, answer);
  }
  return outcome;
}

}  // namespace ooc_run
