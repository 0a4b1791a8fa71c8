#include <ooc/detail/base/version.hpp>

namespace ooc {

Version version() noexcept {
  return {OOC_VERSION_MAJOR, OOC_VERSION_MINOR, OOC_VERSION_PATCH};
}

}  // namespace ooc
