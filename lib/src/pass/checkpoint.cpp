#include <ooc/detail/pass/checkpoint.hpp>

#include <ooc/error.hpp>

namespace ooc {

void require_none(const Checkpoint& checkpoint) {
  if (!checkpoint) return;
  throw Error(ErrorKind::usage, "a job of this kind has no checkpoint",
              {.path = checkpoint.file, .remedies = {{Change::unset, "PassOptions::checkpoint"}}});
}

}  // namespace ooc
