#include "sizing/dry_run_pass.hpp"

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/sizing/dry_run_pass.hpp>
#include <ooc/device.hpp>
#include <ooc/error.hpp>

#include <algorithm>
#include <memory>
#include <string>

#include "device/resident_memory.hpp"

namespace ooc::detail {

namespace {

/// Makes an engine with one entry, which costs little: only a try shows whether the kernel allows
/// an io_uring.
std::unique_ptr<Engine> tried_engine(const IoConfig& config) {
  return make_engine(
      EngineOptions{.writes = config.writes, .kind = config.engine, .depth = 1, .threads = 0});
}

Error different_wholes(const PassInput& first, const PassInput& input) {
  const auto size_of_whole = [](const PassInput& each) {
    return std::to_string(each.source.whole_bytes()) + " bytes in records of " +
           std::to_string(each.record.bytes);
  };
  return {ErrorKind::bad_input,
          "the sections of " + first.source.name() + " and " + input.source.name() +
              " are of sources that do not have the same whole records",
          {.why = "they have " + size_of_whole(first) + " and " + size_of_whole(input)}};
}

/// Throws Error(usage) if one source is stored by rows and the other by columns: records at the
/// same place in the files would be of different places in the arrays.
void require_same_order(const Source& first, const Source& other) {
  const bool same = std::ranges::equal(first.column_major(), other.column_major(),
                                       [](const ColumnMajorArray& a, const ColumnMajorArray& b) {
                                         return a.first == b.first && a.shape == b.shape;
                                       });
  if (same) return;
  throw Error(ErrorKind::usage,
              first.name() + " and " + other.name() + " are not stored in the same order",
              {.why = "the inputs of a pass are read record by record, side by side, and arrays in "
                      "Fortran order are stored column by column",
               .hint = "save them row by row"});
}

void require_same_records(std::span<const PassInput> inputs) {
  for (const PassInput& input : inputs) {
    require_same_order(inputs.front().source, input.source);
    if (input.source.is_produced() && inputs.size() > 1) {
      throw Error(ErrorKind::usage, input.source.name() + ": cannot be read beside another input",
                  {.why = "what a producer makes is a pass's only input",
                   .hint = "write it to a file first"});
    }
    if (input.record.bytes == 0) throw Error(ErrorKind::usage, "a record has at least one byte");
    const std::uint64_t rest = input.source.bytes() % input.record.bytes;
    if (rest != 0) {
      throw Error(ErrorKind::bad_input,
                  input.source.name() + ": " + std::to_string(input.source.bytes()) +
                      " bytes are not a whole number of records of " +
                      std::to_string(input.record.bytes) + " bytes",
                  {.why = std::to_string(rest) + " bytes are left over"});
    }
    const std::uint64_t skipped = input.source.bytes_before() % input.record.bytes;
    if (skipped != 0) {
      throw Error(ErrorKind::usage,
                  input.source.name() + ": a section begins within a record of " +
                      std::to_string(input.record.bytes) + " bytes",
                  {.why = std::to_string(skipped) + " bytes of that record are before it"});
    }
    const std::uint64_t of_whole = input.source.whole_bytes() / input.record.bytes;
    const PassInput& first = inputs.front();
    if (input.source.whole_bytes() % input.record.bytes != 0 ||
        of_whole != first.source.whole_bytes() / first.record.bytes) {
      const bool is_section = input.source.is_section() || first.source.is_section();
      if (is_section) throw different_wholes(first, input);
    }
    if (records_before(input) != records_before(first)) {
      throw Error(ErrorKind::usage,
                  "the sections of " + inputs.front().source.name() + " and " +
                      input.source.name() + " begin at different records",
                  {.why = "the inputs of a pass are read record by record, side by side"});
    }
    if (records_of(input) == records_of(inputs.front())) continue;
    throw Error(ErrorKind::bad_input,
                inputs.front().source.name() + " has " +
                    std::to_string(records_of(inputs.front())) + " records, " +
                    input.source.name() + " has " + std::to_string(records_of(input)),
                {.why = "the inputs of a pass are read record by record, side by side"});
  }
}

Error no_neighbours(const Source& source) {
  return {ErrorKind::usage,
          source.name() + ": an operator with neighbours cannot read it",
          {.why = "it is read once, from beginning to end", .hint = "write it to a file first"}};
}

Error no_neighbours_beside(const Source& section) {
  return {ErrorKind::usage,
          section.name() + ": an operator with neighbours cannot read a section",
          {.why = "a section does not have those before and after it",
           .hint = "give it the whole source"}};
}

/// Throws unless a pass may read a part of the inputs, in any order.
void require_any_order(std::span<const PassInput> inputs, const PassOptions& wanted) {
  if (wanted.checksum) {
    throw Error(ErrorKind::usage, "chunks that are shuffled or sharded have no checksum",
                {.why = "a checksum is of all bytes of a source, in their order"});
  }
  if (is_produced(inputs)) {
    throw Error(
        ErrorKind::usage,
        inputs.front().source.name() + ": its chunks cannot be shuffled or sharded",
        {.why = "it is read once, from beginning to end", .hint = "write it to a file first"});
  }
}

}  // namespace

bool is_produced(std::span<const PassInput> inputs) {
  return std::ranges::any_of(inputs,
                             [](const PassInput& input) { return input.source.is_produced(); });
}

std::uint64_t records_of(const PassInput& input) {
  return (input.source.is_produced() ? most_produced_bytes : input.source.bytes()) /
         input.record.bytes;
}

std::uint64_t records_before(const PassInput& input) {
  return input.source.bytes_before() / input.record.bytes;
}

std::size_t swapped_bytes_of(const Source& source) {
  // Fields are swapped when they are moved.
  const bool is_field = SourceAccess::field(source).has_value();
  return source.type() && source.type()->swapped && !is_field ? source.element_bytes() : 0;
}

std::vector<std::size_t> decoded_bytes_of(std::span<const PassInput> inputs) {
  std::vector<std::size_t> bytes;
  for (const PassInput& input : inputs) {
    bytes.push_back(input.decoding.moves.empty() ? 0 : input.decoded_bytes());
  }
  return bytes;
}

StepNeeds needs_of(std::span<const PassInput> inputs, const Operation* operation,
                   const PassOptions& wanted) {
  StepNeeds needs{.inputs = {},
                  .decoded = decoded_bytes_of(inputs),
                  .in_order = wanted.checksum || wanted.checkpoint};
  if (operation != nullptr) {
    needs.partition = operation->partition();
    needs.margin = operation->margin();
    needs.memory = operation->host_bytes();
    needs.appends = operation->selects();
    needs.groups = operation->groups();
    needs.waits = operation->in_order() || needs.appends;
    needs.in_order |= needs.waits || !needs.margin.is_empty();
    if (inputs.empty()) needs.records = operation->records();
    needs.lending = operation->lending();
    needs.in_order |= needs.lending.has_value();
  }
  if (needs.lending && !needs.lending->is_everything()) require_any_order(inputs, wanted);
  if (is_produced(inputs)) {
    if (!needs.margin.is_empty()) throw no_neighbours(inputs.front().source);
    needs.appends = needs.in_order = true;
  }
  for (const PassInput& input : inputs) {
    if (input.source.is_section() && !needs.margin.is_empty()) {
      throw no_neighbours_beside(input.source);
    }
    // Bytes are swapped within elements, so steps and memory are cut between these also if a record
    // is a byte.
    const std::size_t swapped = swapped_bytes_of(input.source);
    RecordShape record = input.record;
    record.alignment = std::max(record.alignment, swapped);
    while (swapped != 0 && needs.partition * record.bytes % swapped != 0) needs.partition *= 2;
    const std::uint64_t count = records_of(input);
    needs.margin = {std::min(needs.margin.before, count), std::min(needs.margin.after, count)};
    if (swapped != 0 && record.bytes % swapped != 0) {
      needs.margin.before = round_up(needs.margin.before, swapped);
      needs.margin.after = round_up(needs.margin.after, swapped);
    }
    needs.inputs.push_back(record);
  }
  if (const auto* const resident = resident_memory_of(inputs); resident != nullptr) {
    // A checksum is of bytes that are in host memory.
    if (!wanted.checksum) {
      needs.resident = resident->records(needs.inputs);
    } else if (resident->is_given()) {
      throw Error(ErrorKind::usage,
                  inputs.front().source.name() + ": in the memory of a GPU it has no checksum",
                  {.why = "a checksum is of bytes that the host reads"});
    }
  }
  return needs;
}

Options bounded(Options options) {
  // No machine has more, and no sum or product of such numbers overflows.
  constexpr std::size_t most_bytes = std::size_t{1} << 44, most_at_once = std::size_t{1} << 16;
  for (std::size_t* bytes : {&options.chunk_bytes, &options.block_bytes}) {
    *bytes = std::min(*bytes, most_bytes);
  }
  for (std::size_t* count : {&options.queue_depth, &options.threads, &options.streams}) {
    *count = std::min(*count, most_at_once);
  }
  // A pool takes tens of megabytes unless it is limited. A container may have less.
  constexpr std::uint64_t ample_bytes = 256 * MiB;
  if (options.memory_bytes == 0) {
    const std::uint64_t available = available_host_bytes();
    if (available < ample_bytes) options.memory_bytes = std::max<std::uint64_t>(available / 2, 1);
  }
  return options;
}

Facts measure_facts(const DeviceFacts& device, bool device_starts,
                    std::span<const PassInput> inputs, std::span<const Output> outputs) {
  require_same_records(inputs);
  Facts facts{.device = device,
              .device_starts = device_starts,
              .host_bytes = available_host_bytes(),
              .source = facts_of(inputs),
              .outputs = {}};
  for (const Output& output : outputs) {
    const std::uint64_t offset =
        output.file.data_offset() + output.records_before * output.record_bytes;
    facts.outputs.push_back(facts_of(output.file, offset, output.record_bytes));
  }
  return facts;
}

Stats describe_layout(const Facts& facts, const Layout& layout) {
  Stats stats;
  stats.layout.direct = layout.reads.direct;
  stats.layout.decodes = facts.source.decodes;
  stats.layout.reasons = layout.reasons;
  stats.layout.why_chunk = layout.why_chunk;
  stats.layout.why_streams = {.what = layout.why_lanes};
  stats.layout.page_cache_fraction = facts.source.cached;
  stats.layout.hole_fraction = facts.source.holes;
  stats.layout.in_order = layout.order == nullptr;
  stats.layout.chunk_bytes = layout.chunk_bytes;
  stats.layout.chunks = layout.plan.steps();
  stats.layout.streams = layout.lanes;
  stats.layout.block_bytes = layout.reads.block_bytes;
  stats.layout.queue_depth = layout.reads.queue_depth;
  stats.layout.read_ahead_bytes =
      std::min(layout.slots_ahead * layout.plan.chunk_bytes(), layout.plan.bytes());
  return stats;
}

void describe_notes(const Engine& engine, Stats& stats) {
  if (!engine.note().empty()) stats.layout.reasons.push_back({ReasonKind::engine, engine.note()});
  if (!engine.remark().empty()) stats.outcome.remarks.push_back(engine.remark());
}

void describe_readers(const Engine* engine, const IoConfig& config, Stats& stats) {
  if (engine == nullptr) {
    stats.layout.engine = "threads";
    stats.layout.threads = stats.layout.streams;
    stats.layout.queue_depth = stats.layout.streams;
    stats.layout.reads_inline = true;
    return;
  }
  stats.layout.engine = engine->name();
  stats.layout.threads =
      stats.layout.streams + (stats.layout.engine == "uring" ? 1 : config.threads);
  describe_notes(*engine, stats);
}

Stats dry_run_pass(const Options& given, DeviceKind kind, std::span<const PassInput> inputs,
                   std::span<const Output> outputs, const PassOptions& wanted, HostBytes memory,
                   const Operation* operation) {
  const Options options = bounded(given);
  const DeviceFacts device = facts_of(kind);
  const bool device_starts = !device.uses_host_cores;
  const Facts facts = measure_facts(device, device_starts, inputs, outputs);
  StepNeeds needs = needs_of(inputs, operation, wanted);
  if (operation == nullptr) needs.memory = memory;
  const HostBytes beside = needs.memory;
  const Layout layout = choose_layout(
      facts,
      {.options = options, .workers = choose_workers(options, device), .needs = std::move(needs)});
  Stats stats = describe_layout(facts, layout);
  const bool produced = is_produced(inputs);
  stats.outcome.records = produced ? 0 : records_of(inputs.front());
  for (const PassInput& input : inputs) stats.outcome.bytes += input.source.bytes();
  if (produced) {
    stats.layout.is_produced = true;
    stats.layout.chunks = 0;
    stats.layout.threads = stats.layout.streams + 1;
  }
  stats.layout.slots = layout.all_slots();
  stats.layout.pool_bytes = stats.layout.slots * layout.slot_bytes;
  stats.layout.operator_bytes = beside.fixed + layout.lanes * beside.per_lane;
  if (layout.plan.size() == 0) return stats;
  if (layout.writes) stats.outcome.bytes_written = layout.writes->plan.bytes();
  if (!device.reads_host_memory) stats.layout.device_bytes = layout.buffer_bytes();
  if (!produced) {
    const std::unique_ptr<Engine> reads =
        layout.reads_inline ? nullptr : tried_engine(layout.reads);
    describe_readers(reads.get(), layout.reads, stats);
  }
  if (layout.writes) describe_notes(*tried_engine(layout.writes->config), stats);
  return stats;
}

}  // namespace ooc::detail
