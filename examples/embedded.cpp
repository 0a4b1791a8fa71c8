// Runs a pass on its own thread, as a program with a window would. `embedded FILE` shows the
// progress, and stops the pass when Enter is pressed. The next call continues where it stopped.

#include <ooc/ooc.hpp>

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: embedded FILE\n";
    return 2;
  }
  std::stop_source stop;
  std::atomic<double> done = 0;                           // fraction of the file
  const auto show = [&](const ooc::Progress& progress) {  // called on the thread of the pass
    if (progress.total_bytes != 0)
      done = static_cast<double>(progress.bytes) / static_cast<double>(progress.total_bytes);
  };
  const std::string path = argv[1], checkpoint = path + ".part";
  auto pass = std::async(std::launch::async, [&] {
    ooc::Coordinator coordinator(ooc::best_device());
    return ooc::reduce(
        coordinator, ooc::open(path), {},
        {.stop = stop.get_token(), .progress = show, .checkpoint = {.file = checkpoint}});
  });

  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (pass.wait_for(100ms) != std::future_status::ready) {
    std::cerr << static_cast<int>(100 * done) << " %\n";
    std::string line;
    if (poll(&input, 1, 0) > 0) {
      if (std::getline(std::cin, line)) stop.request_stop();
      input.fd = -1;  // poll() ignores it from now on
    }
  }
  try {
    const auto [found, stats] = pass.get();  // throws the error of the pass
    std::cout << "mean " << found.mean.value() << " of " << found.count << std::endl;
    std::filesystem::remove(checkpoint);
  } catch (const ooc::Error& error) {
    std::cerr << error.what() << '\n';
    if (!error.details().why.empty()) std::cerr << "cause: " << error.details().why << '\n';
    if (const std::string advice = ooc::advice(error.details()); !advice.empty())
      std::cerr << "advice: " << advice << '\n';
    return error.kind() == ooc::ErrorKind::interrupted ? 130 : 1;
  }
}
