#include <ooc/convert.hpp>
#include <ooc/detail/inputs/input_type.hpp>

#include "base/raw_element.hpp"
#include "base/written_values.hpp"
#include "convert/values.hpp"

#include <ooc/detail/base/byte_reader.hpp>
#include <ooc/error.hpp>
#include <ooc/map.hpp>
#include <ooc/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc {

using namespace detail;
namespace {

template <std::size_t input_bytes, std::size_t output_bytes>
struct Converting {
  using Input = RawElement<input_bytes>;
  using Output = RawElement<output_bytes>;

  /// The losses are counted in device memory (`counter`) until finish() copies them.
  struct Partial {
    conversion::Losses losses;
    Buffer counter;
  };

  static constexpr Merge merge_order = Merge::unordered;
  static constexpr std::string_view partial_name = "ooc.convert/2";

  ElementType from, to;
  ConvertOptions options;
  std::string path;

  Partial make_partial(Stream& stream) const {
    Partial partial;
    partial.counter = Buffer(stream.temporaries(), sizeof(conversion::Losses));
    stream.fill_zero(partial.counter.data(), sizeof(conversion::Losses));
    return partial;
  }

  void transform(Stream& stream, DeviceChunk<const Input> in, DeviceSpan<Output> out,
                 Partial& partial) const {
    conversion::convert_values(stream, from, to, reinterpret_cast<const std::byte*>(in.data),
                               reinterpret_cast<std::byte*>(out.data), in.size, beyond(),
                               partial.counter.template as<conversion::Losses>());
  }

  void finish(Stream& stream, std::span<Partial> partials) const {
    for (Partial& partial : partials) {
      stream.copy(&partial.losses, partial.counter.data(), sizeof(conversion::Losses));
    }
    stream.synchronize();
    for (Partial& partial : partials) partial.counter = {};
  }

  void merge(Partial& total, const Partial& part) const { total.losses += part.losses; }

  std::string question() const {
    return std::string(name_of(from)) + " to " + std::string(name_of(to)) +
           (options.clip ? ", clipped" : "");
  }
  void save(const Partial& partial, std::vector<std::byte>& out) const {
    append_bytes(out, partial.losses);
  }
  void load(std::span<const std::byte> in, Partial& partial) const {
    ByteReader bytes(in);
    partial.losses = bytes.take<conversion::Losses>();
    bytes.require_end();
  }

  conversion::Beyond beyond() const {
    return options.clip ? conversion::Beyond::clip : conversion::Beyond::convert;
  }

  void check(const Partial& total) const {
    const std::uint64_t inexact = total.losses.all();
    if (!options.strict || inexact == 0) return;
    throw Error(ErrorKind::bad_input,
                path + ": not written, since " + std::to_string(inexact) +
                    (inexact == 1 ? " value" : " values") + " would change as " +
                    std::string(name_of(to)),
                {.path = path,
                 .hint = "choose a wider type",
                 .remedies = {{RemedyAction::unset, "ConvertOptions::strict"}}});
  }
};

/// Throws unless both hold elements of one type: a struct would be read as its bytes.
void require_elements(const Source& source, const Target& target) {
  if (source.type() && source.type()->is_struct()) {
    throw Error(ErrorKind::bad_input, source.name() + ": holds structs " + code_of(*source.type()),
                {.why = "elements of one type are converted",
                 .hint = "map() takes the fields that the Input of an operator declares"});
  }
  if (source.by_columns()) {
    throw Error(ErrorKind::bad_input, source.name() + ": is stored column by column",
                {.why = "its elements would be written in the order of the file",
                 .hint = "save it row by row"});
  }
  if (target.type && target.type->is_struct()) {
    throw Error(ErrorKind::usage,
                target.path.string() + ": is to hold structs " + code_of(*target.type),
                {.path = target.path,
                 .why = "elements of one type are converted",
                 .hint = "map() writes what the Output of an operator declares"});
  }
}

/// Returns the target, with the source's shape and type unless it has its own.
Target shaped_as(const Source& source, const Target& target) {
  Target shaped = target;
  if (!shaped.type) {
    shaped.type = source.element();
    shaped.type->is_bool = source.type() && source.type()->is_bool;
  }
  if (shaped.shape.empty()) shaped.shape.assign(source.shape().begin(), source.shape().end());
  return shaped;
}

}  // namespace

Stats dry_run_convert(const Options& options, DeviceKind device, const Source& source,
                      const Target& target, const PassOptions& wanted) {
  require_elements(source, target);
  const Target shaped = shaped_as(source, target);
  const PassInput input = stored_input(source, size_of(source.element()));
  return dry_run_values(options, device, input, shaped, source.elements(), wanted);
}

Result<Conversion> convert(Coordinator& coordinator, const Source& source, const Target& target,
                           const ConvertOptions& options, const PassOptions& wanted) {
  require_elements(source, target);
  const ElementType from = source.element();
  const Target shaped = shaped_as(source, target);
  const ElementType to = shaped.type->element;

  // map() is instantiated for sizes only; convert_values() selects the types.
  const auto run = [&]<std::size_t input_bytes, std::size_t output_bytes>() -> Result<Conversion> {
    const Converting<input_bytes, output_bytes> op{from, to, options, target.path.string()};
    auto [total, stats] = map(coordinator, op, source, shaped, wanted);
    const conversion::Losses& losses = total.losses;
    return {{.count = source.elements(),
             .inexact = losses.all(),
             .rounded = losses.rounded,
             .overflowed = losses.overflowed,
             .clipped = losses.clipped},
            std::move(stats)};
  };
  const auto run_to = [&]<std::size_t input_bytes>() {
    switch (size_of(to)) {
      case 1: return run.template operator()<input_bytes, 1>();
      case 2: return run.template operator()<input_bytes, 2>();
      case 4: return run.template operator()<input_bytes, 4>();
      default: return run.template operator()<input_bytes, 8>();
    }
  };
  switch (size_of(from)) {
    case 1: return run_to.operator()<1>();
    case 2: return run_to.operator()<2>();
    case 4: return run_to.operator()<4>();
    default: return run_to.operator()<8>();
  }
}

}  // namespace ooc
