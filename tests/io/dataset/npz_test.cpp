// Tests .npz files: their arrays, and archives that are damaged or hostile. Archives are made byte
// by byte; cli_npz_test reads those of NumPy.

#include <ooc/detail/dataset/judgement.hpp>
#include <ooc/detail/dataset/source_access.hpp>
#include <ooc/error.hpp>
#include <ooc/source.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "io/expect_error.hpp"
#include "io/little_endian.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::little;

/// A member as it is written; what is set contradicts what it has.
struct Member {
  std::string name;
  std::string content;
  std::uint64_t method = 0, flags = 0;
  std::optional<std::uint64_t> offset{}, size{}, stored{};  // in the directory
  std::string local_name = name;
  bool is_large = false;  // sizes and offset in extra fields of 64 bits
};

/// The end of an archive; what is set contradicts what it has.
struct End {
  std::optional<std::uint64_t> members{}, bytes{}, offset{};
  std::uint64_t disk = 0;
  std::string comment{}, behind{};
  bool is_large = false;
};

std::string extra_of(const Member& member, std::uint64_t offset) {
  if (!member.is_large) return "";
  return little(1, 2) + little(24, 2) + little(member.size.value_or(member.content.size()), 8) +
         little(member.stored.value_or(member.content.size()), 8) + little(offset, 8);
}

std::string entry_of(const Member& member, std::uint64_t found) {
  const std::uint64_t offset = member.offset.value_or(found);
  const std::string extra = extra_of(member, offset);
  const auto number = [&](std::uint64_t value) {
    return little(member.is_large ? 0xffff'ffff : value, 4);
  };
  return "PK\1\2" + little(20, 2) + little(20, 2) + little(member.flags, 2) +
         little(member.method, 2) + little(0, 8) +
         number(member.stored.value_or(member.content.size())) +
         number(member.size.value_or(member.content.size())) + little(member.name.size(), 2) +
         little(extra.size(), 2) + little(0, 10) + number(offset) + member.name + extra;
}

std::string archive(const std::vector<Member>& members, const End& end = {}) {
  std::string file, directory;
  for (const Member& member : members) {
    directory += entry_of(member, file.size());
    const std::string extra = extra_of(member, 0);
    file += "PK\3\4" + little(20, 2) + little(member.flags, 2) + little(member.method, 2) +
            little(0, 16) + little(member.local_name.size(), 2) + little(extra.size(), 2) +
            member.local_name + extra + member.content;
  }
  const std::uint64_t offset = end.offset.value_or(file.size());
  const std::uint64_t bytes = end.bytes.value_or(directory.size());
  const std::uint64_t count = end.members.value_or(members.size());
  file += directory;
  if (end.is_large) {
    const std::uint64_t at = file.size();
    file += "PK\6\6" + little(44, 8) + little(0, 12) + little(count, 8) + little(count, 8) +
            little(bytes, 8) + little(offset, 8) + "PK\6\7" + little(0, 4) + little(at, 8) +
            little(1, 4);
  }
  const auto number = [&](std::uint64_t value, int width) {
    return little(end.is_large ? ~0ull : value, width);
  };
  return file + "PK\5\6" + little(0, 2) + little(end.disk, 2) + number(count, 2) +
         number(count, 2) + number(bytes, 4) + number(offset, 4) + little(end.comment.size(), 2) +
         end.comment + end.behind;
}

std::string npy_of(const std::string& descr, std::size_t elements, std::size_t element_bytes) {
  const std::string shape = "(" + std::to_string(elements) + ",)";
  return test::npy(test::header_of("'" + descr + "'", "False", shape), elements * element_bytes);
}

const Member first_member{.name = "one.npy", .content = npy_of("<f4", 3, 4)};
const Member second_member{.name = "two.npy", .content = npy_of(">i2", 5, 2)};

class NpzTest : public testing::Test {
 protected:
  Source opened(const std::string& file, const std::string& name = "", const Format& format = {}) {
    return open(directory_.write("a.npz", file).string() + name, format);
  }

  void expect_refused(const std::string& problem, const std::string& file) {
    SCOPED_TRACE(problem);
    expect_error(ErrorKind::bad_input, problem, [&] { opened(file, "::one"); });
  }

  /// Returns why the only array cannot be read.
  std::string why_not(const Member& member) {
    const auto path = directory_.write("a.npz", archive({member}));
    return open_unjudged({&path, 1}, {}).arrays.front().why_not;
  }

  test::TempDir directory_;
};

TEST_F(NpzTest, AnArrayIsSelectedByItsName) {
  const std::string file = archive({first_member, {"notes.txt", "hello"}, second_member});
  const Source source = opened(file, "::two");
  EXPECT_EQ(source.type(), parse_dtype(">i2"));
  EXPECT_EQ(source.elements(), 5u);
  EXPECT_TRUE(source.has_format(FileFormat::npz));
  EXPECT_EQ(source.format, "npz");
  EXPECT_EQ(source.format_version, "1.0");
  EXPECT_EQ(source.shape().front(), 5u);
  EXPECT_EQ(storage_of(source).front().offset + 10, file.find("PK\1\2"));
  EXPECT_TRUE(source.name().ends_with("/a.npz::two"));
  EXPECT_EQ(opened(file, "::one").elements(), 3u);
  EXPECT_EQ(opened(file, "::one[1:]").elements(), 2u);
  expect_error(ErrorKind::usage, "has 2 arrays", [&] { opened(file); });
  expect_error(ErrorKind::usage, "no array 'three'", [&] { opened(file, "::three"); });
  EXPECT_EQ(opened(archive({second_member})).elements(), 5u);
}

TEST_F(NpzTest, IsRecognisedByItsFirstMember) {
  EXPECT_EQ(open(directory_.write("a.bin", archive({second_member}))).elements(), 5u);
  EXPECT_EQ(open(directory_.write("b", archive({{"a.txt", ""}, second_member})),
                 {.file = FileFormat::npz})
                .elements(),
            5u);
  expect_error(ErrorKind::bad_input, "zip", [&] {
    open(directory_.write("b.zip", archive({{"a.txt", std::string(5000, ' ')}, second_member})));
  });
  expect_error(ErrorKind::bad_input, "has no arrays", [&] { opened(archive({})); });
}

TEST_F(NpzTest, SizesMayHave64Bits) {
  Member large = second_member;
  large.is_large = true;
  EXPECT_EQ(opened(archive({first_member, large}, {.is_large = true}), "::two").elements(), 5u);
  EXPECT_EQ(opened(archive({first_member, large}), "::two").elements(), 5u);
  EXPECT_EQ(opened(archive({first_member}, {.comment = "PK\5\6 is not the end"})).elements(), 3u);
}

TEST_F(NpzTest, ListsArraysThatAreNotRead) {
  EXPECT_EQ(why_not({.name = "a.npy", .content = "deflated", .method = 8, .size = 100}),
            "compressed numbers (numpy.savez stores them plainly)");
  EXPECT_EQ(why_not({.name = "a.npy", .content = "x", .method = 14}),
            "numbers compressed by method 14");
  EXPECT_EQ(why_not({.name = "a.npy", .content = "x", .flags = 1}), "encrypted numbers");
  EXPECT_EQ(why_not({.name = "a.npy", .content = npy_of("|O", 2, 8)}),
            "pickled Python objects ('|O')");
  EXPECT_EQ(why_not({.name = "a.npy", .content = "no array"}),
            "data that are not understood (is named .npy but does not begin like a .npy file)");
  const std::string why = why_not({.name = "a.npy", .content = npy_of("<f4", 3, 4).substr(0, 75)});
  EXPECT_TRUE(why.starts_with("data that are not understood (is truncated")) << why;
  EXPECT_EQ(opened(archive({first_member, {.name = "a.npy", .content = "x", .method = 8}}), "::one")
                .elements(),
            3u);
}

TEST_F(NpzTest, ReadsFortranOrderWhereItIsAccepted) {
  const Member columns{.name = "f.npy",
                       .content = test::npy(test::header_of("'<f4'", "True", "(2, 3)"), 24)};
  EXPECT_TRUE(opened(archive({columns}), "::f", {.by_columns = true}).by_columns());
  expect_error(ErrorKind::bad_input, "column by column", [&] { opened(archive({columns})); });
}

TEST_F(NpzTest, RefusesDamagedDirectories) {
  const std::string good = archive({first_member, second_member});
  expect_refused("has no directory of a zip archive", good.substr(0, good.size() - 1));
  expect_refused("has no directory of a zip archive", "");
  expect_refused("is a part of an archive", archive({first_member}, {.disk = 1}));
  expect_refused("is not where the archive says", archive({first_member}, {.offset = 0}));
  expect_refused("is not where the archive says", archive({first_member}, {.bytes = 1}));
  expect_refused("is not where the archive says", "x" + good);
  expect_refused("ends within an entry", archive({first_member}, {.members = 2}));
  expect_refused("is longer than its entries",
                 archive({first_member, second_member}, {.members = 1}));
  expect_refused("no more than a million",
                 archive({first_member}, {.members = 1'000'001, .is_large = true}));
  expect_refused("is not where the archive says",
                 archive({first_member}, {.bytes = 1, .offset = ~0ull, .is_large = true}));
}

TEST_F(NpzTest, RefusesMembersThatContradictTheDirectory) {
  const auto changed = [](const std::function<void(Member&)>& change) {
    Member member = first_member;
    change(member);
    return archive({member, second_member});
  };
  expect_refused("contradicts the directory", changed([](Member& m) { m.local_name = "two.npy"; }));
  expect_refused("contradicts the directory", changed([](Member& m) { m.local_name = "o.npy"; }));
  expect_refused("contradicts the directory", changed([](Member& m) { m.offset = 1; }));
  expect_refused("has two different sizes", changed([](Member& m) { m.size = 7; }));
  expect_refused("overlaps what is behind it", changed([](Member& m) { m.size = m.stored = 900; }));
  expect_refused("lies behind the directory", changed([](Member& m) { m.offset = 90'000; }));
  expect_refused("is there twice", archive({first_member, first_member}));
  Member same = second_member;
  same.offset = 0;
  expect_refused("members that overlap", archive({first_member, same}));
}

}  // namespace
}  // namespace ooc::detail
