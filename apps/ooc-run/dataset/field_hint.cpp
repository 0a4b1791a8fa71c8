#include "dataset/field_hint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/dtype.hpp>

namespace ooc_run {

std::string field_hint(const ooc::Source& source) {
  const std::vector<ooc::Field>& fields = source.type()->fields;
  const auto field = std::ranges::find(fields, std::size_t{1}, &ooc::Field::count);
  if (field == fields.end()) return "save a part of a field as an array of its own";
  const std::filesystem::path file = ooc::detail::path_of(source);
  if (file.empty() || source.has_format(ooc::FileFormat::npz)) {
    return fmt::format("save its field {} as an array of its own", field->name);
  }
  return fmt::format("read one of its fields: {}::{}", file.string(), field->name);
}

}  // namespace ooc_run
