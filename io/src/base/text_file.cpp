#include <ooc/detail/base/text_file.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>

namespace ooc::detail {

namespace {

struct Close {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "re"));  // e: O_CLOEXEC
  if (!file) return {};
  std::string text;
  std::array<char, 4096> block;
  while (const std::size_t bytes = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), bytes);
  }
  return std::ferror(file.get()) == 0 ? text : std::string{};
}

}  // namespace ooc::detail
