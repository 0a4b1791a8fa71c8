#include "distinct/bitmap.hpp"

#include <ooc/error.hpp>

#include <new>

namespace ooc::detail::distincts {

Bitmap::Bitmap(Stream& stream) {
  if (stream.kind() == DeviceKind::cpu) {
    words_ = Buffer(host_memory_, bytes);  // zeroed
    return;
  }
  try {
    words_ = Buffer(stream.temporaries(), bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return;
  } catch (const std::bad_alloc&) {
    return;
  }
  stream.fill_zero(words_.data(), bytes);
  stream.synchronize();  // other streams use it
}

}  // namespace ooc::detail::distincts
