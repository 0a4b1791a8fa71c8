#pragma once

#include <functional>
#include <utility>

namespace ooc::detail {

/// Makes waits of this thread for a web server end early: a function that looks for a reason, and
/// throws what is to be thrown. It is called at least once a second while the thread waits, and
/// when a signal interrupts that. A pass waits on threads of its own: see PassOptions::abandon.
class WaitCheck {
 public:
  explicit WaitCheck(std::function<void()> check)
      : check_(std::move(check)), outer_(std::exchange(innermost(), this)) {}
  ~WaitCheck() { innermost() = outer_; }
  WaitCheck(const WaitCheck&) = delete;
  WaitCheck& operator=(const WaitCheck&) = delete;

  /// Calls the function of the innermost object of this thread, if there is one.
  static void look() {
    if (const WaitCheck* const check = innermost()) check->check_();
  }

 private:
  static const WaitCheck*& innermost() noexcept {
    thread_local const WaitCheck* check = nullptr;
    return check;
  }

  std::function<void()> check_;
  const WaitCheck* outer_;
};

}  // namespace ooc::detail
