// Tests output files that stay for another process until they are whole.

#include <gtest/gtest.h>

#include <ooc/detail/base/units.hpp>
#include <ooc/detail/dataset/target_file.hpp>
#include <ooc/detail/file/output_file.hpp>
#include <ooc/error.hpp>
#include <ooc/target.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/expect_error.hpp"
#include "support/child_process.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::bytes_of;
using test::expect_error;

/// A directory on a disk or in memory.
class KeptFileTest : public testing::TestWithParam<const char*> {
 protected:
  static constexpr std::uint64_t bytes_ = 3 * page_bytes + 5;

  OutputFile begun(bool replace = false) { return {path_, bytes_, replace, Purpose::write, kept_}; }
  OutputFile continued(bool replace = false) {
    return {path_, bytes_, replace, Purpose::write, {kept_.name, bytes_}};
  }

  std::vector<std::string> names() const { return directory_.names(); }
  using Names = std::vector<std::string>;

  test::TempDir directory_{GetParam()};
  std::filesystem::path path_ = directory_.path() / "result";
  KeptFile kept_{new_kept_name(path_)};
};

INSTANTIATE_TEST_SUITE_P(Places, KeptFileTest, testing::Values(".", "/dev/shm"),
                         [](const auto& place) {
                           return place.param[0] == '.' ? "disk" : "memory";
                         });

// Several processes write parts of it. In memory, a part may be written before it is allocated.
TEST_P(KeptFileTest, IsWrittenByThoseThatJoin) {
  constexpr std::uint64_t part = 2 * MiB, bytes = 3 * part + 7;
  OutputFile file(path_, bytes, false, Purpose::write, kept_);
  {
    OutputFile second(path_, bytes, false, Purpose::join, kept_);
    OutputFile third(path_, bytes, false, Purpose::join, kept_);
    EXPECT_EQ(third.is_tmpfs(), file.is_tmpfs());
    third.write(2 * part, bytes_of(std::string(part + 7, 'c')));
    second.write(part, bytes_of(std::string(part, 'b')));
    third.keep();
    second.keep();
  }
  file.write(0, bytes_of(std::string(part, 'a')));
  file.commit();
  EXPECT_EQ(names(), Names{"result"});
  std::ifstream in(path_, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(found ==
              std::string(part, 'a') + std::string(part, 'b') + std::string(part + 7, 'c'));
}

TEST_P(KeptFileTest, StaysOnceItIsKept) {
  {
    OutputFile file = begun();
    file.write(0, bytes_of("not kept"));
  }
  EXPECT_EQ(names(), Names{});
  {
    OutputFile file = begun();
    file.write(0, bytes_of("beginning"));
    file.keep();
    EXPECT_EQ(names(), Names{kept_.name});
    file.write(page_bytes, bytes_of("middle"));
    file.keep();
  }
  EXPECT_EQ(names(), Names{kept_.name});
  {
    OutputFile file = continued();
    file.write(bytes_ - 3, bytes_of("end"));
  }
  EXPECT_EQ(names(), Names{kept_.name});
  {
    OutputFile file = continued();
    file.commit();
  }
  EXPECT_EQ(names(), Names{"result"});
  std::string expected(bytes_, '\0');
  expected.replace(0, 9, "beginning")
      .replace(page_bytes, 6, "middle")
      .replace(bytes_ - 3, 3, "end");
  EXPECT_TRUE(test::read_whole(path_) == expected);
}

TEST_P(KeptFileTest, HasItsSizeAgain) {
  begun().keep();
  std::filesystem::resize_file(directory_.path() / kept_.name, 2 * bytes_);
  continued().commit();
  EXPECT_EQ(std::filesystem::file_size(path_), bytes_);
}

TEST_P(KeptFileTest, IsCommittedWithoutKeeping) {
  OutputFile file = begun();
  file.write(0, bytes_of("all"));
  file.commit();
  EXPECT_EQ(names(), Names{"result"});
}

TEST_P(KeptFileTest, ReplacesAFileAtTheEnd) {
  std::ofstream(path_) << "old";
  std::filesystem::permissions(path_, std::filesystem::perms(0640));
  expect_error(ErrorKind::output, "exists already", [&] { begun(); });
  {
    OutputFile file = begun(true);
    file.write(0, bytes_of("new"));
    file.keep();
  }
  EXPECT_EQ(test::read_whole(path_), "old");
  expect_error(ErrorKind::output, "exists already", [&] { continued(); });
  continued(true).commit();
  EXPECT_EQ(test::read_whole(path_).substr(0, 3), "new");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(names(), Names{"result"});
}

TEST_P(KeptFileTest, OtherOutputsOfTheNameLeaveItAlone) {
  begun().keep();
  {
    OutputFile file(path_, 3, false);
    file.write(0, bytes_of("abc"));
    file.commit();
  }
  EXPECT_EQ(names(), (Names{kept_.name, "result"}));
  const KeptFile other{new_kept_name(path_)};
  EXPECT_NE(other.name, kept_.name);
  OutputFile file(path_, 3, true, Purpose::write, other);
  file.keep();
  Names expected{kept_.name, other.name, "result"};
  std::ranges::sort(expected);
  EXPECT_EQ(names(), expected);
}

TEST_P(KeptFileTest, IsRefusedIfItIsNotAsItWas) {
  const auto refuse = [&](const std::string& what) {
    expect_error(ErrorKind::output, what, [&] { continued(); });
  };
  refuse("open failed: No such file");
  begun().keep();
  const std::filesystem::path place = directory_.path() / kept_.name;
  {
    OutputFile file = continued();
    refuse("another run is writing it");
  }
  std::filesystem::resize_file(place, bytes_ - 1);
  refuse("is not as it was left");
  std::filesystem::remove(place);
  std::filesystem::create_directory(place);
  refuse("open failed: Is a directory");
  std::filesystem::remove(place);
  std::filesystem::create_symlink("/etc/passwd", place);
  refuse("open failed: ");
  for (const char* name : {"../other", "other", ".result.12345678.ooc-tmp",
                           ".other.12345678.ooc-part", ".result.1234/678.ooc-part"}) {
    expect_error(ErrorKind::output, "is no file that was kept for", [&] {
      OutputFile(path_, bytes_, false, Purpose::write, {name, bytes_});
    });
  }
}

TEST_P(KeptFileTest, AppendsAfterWhatIsThere) {
  const Target target{.path = path_, .type = ElementType::u1};
  KeptFile kept = kept_;
  constexpr std::uint64_t most = 10 * GiB;
  for (const char* text : {"one ", "two ", "three"}) {
    TargetFile file(target, most, {}, Purpose::append, kept);
    const std::string_view piece(text);
    const std::uint64_t offset = file.append(piece.size());
    file.write(offset, bytes_of(piece));
    file.keep();
    kept.bytes = file.bytes();
    const std::uint64_t lost = file.append(4);
    file.write(lost, bytes_of("lost"));
  }
  TargetFile file(target, most, {}, Purpose::append, kept);
  EXPECT_EQ(file.appended_bytes(), 13u);
  file.end({});
  file.commit();
  EXPECT_EQ(test::read_whole(path_), "one two three");
}

TEST_P(KeptFileTest, SurvivesAKill) {
  test::expect_killed_child([&] {
    OutputFile file = begun();
    file.write(0, bytes_of("beginning"));
    file.keep();
    ::raise(SIGKILL);
  });
  EXPECT_EQ(names(), Names{kept_.name});
  test::expect_killed_child([&] {
    OutputFile file(path_, bytes_, false, Purpose::write, {new_kept_name(path_)});
    ::raise(SIGKILL);  // before it is kept
  });
  continued().commit();
  EXPECT_EQ(names(), Names{"result"});
  EXPECT_EQ(test::read_whole(path_).substr(0, 9), "beginning");
}

}  // namespace
}  // namespace ooc::detail
