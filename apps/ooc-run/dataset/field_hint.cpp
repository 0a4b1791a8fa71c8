#include "dataset/field_hint.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ooc/detail/codec/encoded_array.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/detail/file/file.hpp>
#include <ooc/dtype.hpp>

namespace ooc_run {

std::string field_hint(const ooc::Source& source, const ooc::Format& format) {
  const ooc::DType& type = *source.type();
  const ooc::Field* plain = nullptr;
  for (const ooc::Field& each : type.fields) {
    if (each.element == ooc::ElementType::bf16) continue;  // NumPy has no code for bf16
    if (plain == nullptr || (each.count == 1 && plain->count != 1)) plain = &each;  // no string
  }
  if (plain == nullptr) return "NumPy cannot save one field, since all are bf16";
  const ooc::Field& field = *plain;
  const std::filesystem::path file = ooc::detail::path_of(source);
  const std::string path = file.empty() ? "FILE" : file.string();
  const auto quoted = [](const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  const ooc::DType element{field.element, field.swapped};
  const auto files = ooc::detail::files_of(source);
  if (files.empty() || files.front().encoded() != nullptr) {  // NumPy cannot map it
    return fmt::format("save its field {} as an array of its own", quoted(field.name));
  }
  if (source.has_format(ooc::FileFormat::npz)) {
    const std::string& array = ooc::detail::SourceAccess::array(source);
    return fmt::format("save one field: numpy.save(\"field.npy\", numpy.load({})[{}][{}])",
                       quoted(path), quoted(array.substr(0, array.find('['))), quoted(field.name));
  }
  if (source.has_format(ooc::FileFormat::npy)) {
    const bool may_be_date = field.element == ooc::ElementType::i8 && field.count == 1;
    const std::string view = may_be_date ? ".view(\"" + ooc::code_of(element) + "\")" : "";
    return fmt::format(
        "save one field: numpy.save(\"field.npy\", numpy.load({}, mmap_mode=\"r\")[{}]{})",
        quoted(path), quoted(field.name), view);
  }
  const std::string shape = field.count == 1 ? "" : fmt::format("({},)", field.count);
  return fmt::format(
      "save one field: numpy.save(\"field.npy\", numpy.memmap({}, {{\"names\": [{}], \"formats\": "
      "[\"{}{}\"], \"offsets\": [{}], \"itemsize\": {}}}, \"r\", {}{})[{}])",
      quoted(path), quoted(field.name), shape, ooc::code_of(element), field.offset,
      type.struct_bytes, format.offset + format.skip * type.struct_bytes,
      format.count ? fmt::format(", {}", *format.count) : "", quoted(field.name));
}

}  // namespace ooc_run
