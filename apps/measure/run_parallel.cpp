#include "measure/run_parallel.hpp"

#include <ooc/detail/base/threads.hpp>

#include <exception>
#include <thread>
#include <vector>

namespace ooc::detail::measure {

void run_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> errors(count);
  const auto run = [&](std::size_t number) {
    try {
      work(number);
    } catch (...) {
      errors[number] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(count);  // throws before any thread has started
    for (std::size_t i = 1; i < count; ++i) {
      others.push_back(start_thread([&run, i](const std::stop_token&) { run(i); }));
    }
    run(0);
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace ooc::detail::measure
