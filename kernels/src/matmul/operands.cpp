#include "matmul/operands.hpp"

#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ooc::detail::product {

namespace {

std::string shape_of(const Source& source) {
  std::string text;
  for (const std::uint64_t length : source.shape()) {
    text += (text.empty() ? "" : " x ") + std::to_string(length);
  }
  return text;
}

void require_matrix(const Source& source) {
  const auto fail = [&](const std::string& problem, const std::string& hint,
                        std::vector<Remedy> remedies = {}) {
    throw Error(ErrorKind::bad_input, source.name() + ": " + problem,
                {.path = path_of(source), .hint = hint, .remedies = std::move(remedies)});
  };
  if (source.is_produced()) {
    fail("can be read once, and a product reads it again", "write it to a file first");
  }
  if (SourceAccess::device_memory(source).data() != nullptr) {
    fail("is in the memory of a GPU", "give it to cuBLAS, or copy it to the host");
  }
  if (storage_of(source).size() > 1) fail("a matrix lies in one file", "concatenate its files");
  using enum ElementType;
  const ElementType element = source.element();
  const bool is_field = SourceAccess::field(source).has_value();
  if (is_field) {
    fail("has gaps between its elements", "ooc-run convert writes them side by side");
  }
  if (source.type() && source.type()->is_struct()) {
    fail("holds structs, a product takes f2, bf16, f4 or f8", "save one field to a file");
  }
  if (element != f2 && element != bf16 && element != f4 && element != f8) {
    std::vector<Remedy> remedies{{.change = RemedyAction::convert, .value = "f4"}};
    if (source.has_format(FileFormat::raw))
      remedies.insert(remedies.begin(), {RemedyAction::set, "Format::type"});
    fail("holds " + std::string(name_of(element)) + ", a product takes f2, bf16, f4 or f8", "",
         std::move(remedies));
  }
  if (source.by_columns()) {
    fail("is stored column by column (Fortran order)", "save it in C order");
  }
  if (source.shape().size() != 2) {
    fail(source.shape().empty() ? "has no shape"
                                : "has the shape " + shape_of(source) + ", which is no matrix",
         "a matrix has two lengths: of a raw file give its shape, of a .npy file reshape it");
  }
  std::uint64_t elements = 0;
  const bool overflows = __builtin_mul_overflow(source.shape()[0], source.shape()[1], &elements);
  const std::uint64_t held = source.elements();
  if (overflows || elements != held) {
    fail("holds " + std::to_string(held) + " elements, not the " + shape_of(source) +
             " of its shape",
         "check shape and type");
  }
}

}  // namespace

void require_matrices(const Source& a, const Source& b) {
  require_matrix(a);
  require_matrix(b);
  if (a.type()->element != b.type()->element || a.type()->swapped != b.type()->swapped) {
    throw Error(ErrorKind::bad_input,
                path_of(a).string() + " holds " + code_of(*a.type()) + ", " + path_of(b).string() +
                    " holds " + code_of(*b.type()),
                {.path = path_of(b),
                 .why = "both operands of a product have one type",
                 .remedies = {{.change = RemedyAction::convert, .value = code_of(*a.type())}}});
  }
  if (a.shape()[1] != b.shape()[0]) {
    throw Error(ErrorKind::bad_input,
                "a matrix of " + shape_of(a) + " cannot be multiplied by one of " + shape_of(b),
                {.path = path_of(b),
                 .why = "A must have as many columns as B has rows: " +
                        std::to_string(a.shape()[1]) + " and " + std::to_string(b.shape()[0]),
                 .hint = "check their order and shapes; the transpose of a .npy file: "
                         "numpy.save(\"t.npy\", array.T.copy())"});
  }
}

Precision precision_of(const Source& a, const MatmulOptions& options) {
  const Precision own = a.type()->element == ElementType::f8 ? Precision::f64 : Precision::f32;
  return options.precision.value_or(own);
}

}  // namespace ooc::detail::product
