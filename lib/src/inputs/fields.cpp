#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/device/decoder.hpp>
#include <ooc/detail/inputs/input_type.hpp>

#include <ooc/error.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/resident_memory.hpp"
#include "inputs/distinct_fields.hpp"

namespace ooc::detail {

namespace {

Error unfit(const Source& source, const std::string& problem, const std::string& why,
            const std::string& hint) {
  return Error(ErrorKind::bad_input, source.name() + ": " + problem,
               {.path = path_of(source), .why = why, .hint = hint});
}

/// Returns the field of a file for a field of the operator's struct. Throws Error(bad_input).
const Field& found(const Source& source, const Field& wanted) {
  const std::vector<Field>& held = source.type()->fields;
  const auto field = std::ranges::find(held, wanted.name, &Field::name);
  if (field == held.end()) {
    throw unfit(
        source,
        "has no field '" + wanted.name + "', which the operator takes as " + code_of(wanted),
        "the file holds " + code_of(*source.type()),
        "ooc::field(\"NAME\", &Input::member) names the field as the file does");
  }
  if (field->element != wanted.element || field->count != wanted.count) {
    throw unfit(source,
                "field '" + wanted.name + "' holds " + code_of(*field) +
                    ", the operator takes it as " + code_of(wanted),
                "fields have the same name, type and number of elements; they may have another "
                "byte order",
                "give the member of the operator's struct the type that the file holds");
  }
  return *field;
}

/// Adds a move, or lengthens the one before if the field follows that on both sides.
void add(std::vector<FieldMove>& moves, const FieldMove& move) {
  if (!moves.empty() && moves.back().swapped_bytes == 0 && move.swapped_bytes == 0) {
    FieldMove& last = moves.back();
    if (last.from + last.bytes == move.from && last.to + last.bytes == move.to) {
      last.bytes += move.bytes;
      return;
    }
  }
  moves.push_back(move);
}

}  // namespace

void require_distinct_fields(const DType& type) {
  std::size_t end = 0;  // of the fields before, which are sorted by their offsets
  for (auto field = type.fields.begin(); field != type.fields.end(); ++field) {
    const bool is_repeated = std::find_if(type.fields.begin(), field, [&](const Field& each) {
                               return each.name == field->name;
                             }) != field;
    if (is_repeated || field->offset < end) {
      throw Error(ErrorKind::usage,
                  "the operator's struct declares field '" + field->name +
                      (is_repeated ? "' twice" : "' where another field is"),
                  {.why = "a field is one member, and has a name of its own"});
    }
    end = field->offset + field->bytes();
  }
}

Decoding decoding_of(const Source& source, const DType& wanted) {
  require_distinct_fields(wanted);
  if (!source.type()->is_struct()) {
    throw unfit(source,
                "holds " + std::string(name_of(source.type()->element)) +
                    ", the operator takes structs " + code_of(wanted),
                "elements have no names", "open it with the type of its structs (Format::type)");
  }
  Decoding decoding{.stored_bytes = source.element_bytes(), .bytes = wanted.struct_bytes};
  bool is_same = decoding.stored_bytes == decoding.bytes;
  for (const Field& field : wanted.fields) {
    const Field& held = found(source, field);
    is_same &= held.offset == field.offset && !held.swapped;
    add(decoding.moves, {.from = held.offset,
                         .to = field.offset,
                         .bytes = field.bytes(),
                         .swapped_bytes = held.swapped ? size_of(field.element) : 0});
  }
  if (is_same) decoding.moves.clear();
  return decoding;
}

PassInput stored_input(const Source& source, const RecordShape& record) {
  const auto& field = SourceAccess::field(source);
  if (!field) return {source, record};
  const std::size_t bytes = size_of(source.element());
  Decoding decoding{.stored_bytes = field->struct_bytes,
                    .bytes = bytes,
                    .moves = {{.from = field->offset,
                               .to = 0,
                               .bytes = bytes,
                               .swapped_bytes = source.type()->swapped ? bytes : 0}}};
  const RecordShape stored(record.bytes / bytes * field->struct_bytes, 1);
  return {source, stored, std::move(decoding)};
}

void use_device_memory(std::span<PassInput> inputs) {
  std::vector<const Source*> sources;
  for (const PassInput& input : inputs) {
    if (input.resident == nullptr) sources.push_back(&input.source);
  }
  const std::shared_ptr<ResidentMemory> memory = given_memory(sources);
  if (memory == nullptr) return;
  for (PassInput& input : inputs) input.resident = memory;
}

}  // namespace ooc::detail
