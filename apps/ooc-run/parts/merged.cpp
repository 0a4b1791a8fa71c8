#include "parts/merged.hpp"

#include <cstddef>
#include <utility>

namespace ooc_run {
namespace {

/// Adds an answer of a file to the total. `load` restores the answer from its bytes.
template <class Value, class Load>
void add(std::optional<ooc::PartialResult<Value>>& total, const ooc::PartFile& file,
         std::size_t answer, const Load& load) {
  const auto load_here = [&](std::span<const std::byte> saved) {
    try {
      return load(saved);
    } catch (const ooc::Error& error) {
      if (error.kind() != ooc::ErrorKind::usage) throw;
      throw ooc::Error(ooc::ErrorKind::bad_input, "does not answer its own question",
                       {.why = error.what()});
    }
  };
  ooc::PartialResult<Value> loaded = file.load(answer, load_here);
  if (total) {
    total->merge(std::move(loaded));
  } else {
    total.emplace(std::move(loaded));
  }
}

}  // namespace

Merged merge(const Parts& all) {
  const Question& question = all.question;
  Merged merged;
  const ooc::ElementType type = question.type.element;
  for (const ShardPart& part : all.all) {
    try {
      const ooc::PartFile file = read_again(part, all.all.front());
      if (all.search) {
        add(merged.quantile, file, 0, [&](const auto& saved) { return all.search->load(saved); });
        continue;
      }
      if (question.top) {
        add(merged.top, file, 0,
            [&](const auto& saved) { return ooc::load_top(type, *question.top, saved); });
        continue;
      }
      if (question.columns) {
        add(merged.columns, file, 0, [&](const auto& saved) {
          return ooc::load_reduce_columns(type, *question.columns, *question.reduce, saved);
        });
        continue;
      }
      if (question.distinct) {
        add(merged.distinct, file, 0,
            [&](const auto& saved) { return ooc::load_distinct(type, *question.distinct, saved); });
        continue;
      }
      if (all.choose_bins()) {
        add(merged.bins, file, 0,
            [&](const auto& saved) { return ooc::load_bins(type, *question.histogram, saved); });
        continue;
      }
      std::size_t answer = 0;
      if (question.reduce) {
        add(merged.statistics, file, answer++,
            [&](const auto& saved) { return ooc::load_reduce(type, *question.reduce, saved); });
      }
      if (question.histogram) {
        add(merged.histogram, file, answer, [&](const auto& saved) {
          return ooc::load_histogram(type, *question.histogram, saved);
        });
      }
    } catch (const ooc::Error& error) {
      refuse_part(part.path, error);
    }
  }
  return merged;
}

}  // namespace ooc_run
