#include <algorithm>
#include <array>
#include <ooc/error.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.hpp"
#include "watched.hpp"

namespace ooc_python {
namespace {

/// A setting of the library, and the keyword argument that sets it. `value`: if a remedy has none.
struct Keyword {
  std::string_view setting, name, value = "...";
  bool is_of_open = false;  // other functions do not take it
};

constexpr std::array keywords{Keyword{"Options::memory_bytes", "memory"},
                              Keyword{"Options::device_bytes", "vram"},
                              Keyword{"Options::threads", "threads"},
                              Keyword{"Format::type", "dtype", "...", true},
                              Keyword{"Format::offset", "offset", "...", true},
                              Keyword{"HistogramOptions::bins", "bins"},
                              Keyword{"HistogramOptions::range", "range", "(low, high)"},
                              Keyword{"HistogramOptions::edges", "bins"},
                              Keyword{"ReduceOptions::nan", "nan"},
                              Keyword{"Target::replace", "overwrite", "True"}};

const Keyword* keyword_of(const ooc::Remedy& remedy) {
  const auto found = std::ranges::find(keywords, remedy.setting, &Keyword::setting);
  return found == keywords.end() ? nullptr : found;
}

/// Returns the advice of an error in terms of keyword arguments, without the remedies that only
/// programs in C++ can apply.
std::string advice_of(ooc::ErrorDetails details) {
  std::erase_if(details.remedies, [](const ooc::Remedy& remedy) {
    return remedy.change != ooc::RemedyAction::convert && keyword_of(remedy) == nullptr;
  });
  return ooc::advice(details, [](const ooc::Remedy& remedy) -> ooc::RemedyWords {
    ooc::RemedyWords words = ooc::words_of(remedy);
    const Keyword* const keyword = keyword_of(remedy);
    if (keyword == nullptr) return words;
    words.object = keyword->name;
    if (remedy.change != ooc::RemedyAction::set && remedy.value.empty()) return words;
    const bool is_code = keyword->setting == "Format::type" && !remedy.value.empty();
    const std::string value(remedy.value.empty() ? keyword->value : remedy.value);
    words.object += "=" + (is_code ? "'" + value + "'" : value);
    if (keyword->is_of_open) words = {"use", "ooc.open(x, " + words.object + ")"};
    return words;
  });
}

/// Sets the Python exception for an error.
void set_exception(const ooc::Error& error) {
  const Call call;  // since this runs Python
  const ooc::ErrorDetails& details = error.details();
  const nb::object exception =
      nb::module_::import_("ooc._errors")
          .attr("exception_for")(ooc::to_string(error.kind()), text_of(error.what()),
                                 text_of(details.path.native()), details.offset,
                                 details.errno_value, text_of(details.why),
                                 text_of(advice_of(details)));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const ooc::Error& error) {
      try {
        set_exception(error);
      } catch (nb::python_error& raised) {  // by the handler of a signal
        raised.restore();
      } catch (const ooc::Error&) {  // the interpreter is ending
        PyErr_SetString(PyExc_RuntimeError, error.what());
      }
    }
  });
}

}  // namespace ooc_python
