#include <ooc/fold.hpp>

#include <ooc/io/error.hpp>

namespace ooc::detail {

void require_type(const Source& source, ElementType wanted) {
  if (!source.type()) {
    const std::size_t size = size_of(wanted);
    if (source.bytes() % size == 0) return;
    throw Error(Cause::bad_input,
                std::to_string(source.bytes()) + " bytes are not a whole number of " +
                    std::string(name_of(wanted)) + " elements",
                {.path = source.files().empty() ? "" : source.files().front().path(),
                 .why = std::to_string(source.bytes() % size) + " bytes are left over"});
  }
  if (source.type()->element == wanted) return;
  throw Error(Cause::bad_input,
              "the source holds " + std::string(name_of(source.type()->element)) +
                  ", the operator takes " + std::string(name_of(wanted)),
              {.path = source.files().empty() ? "" : source.files().front().path()});
}

}  // namespace ooc::detail
