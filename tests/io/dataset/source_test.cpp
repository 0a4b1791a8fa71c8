#include <gtest/gtest.h>

#include <ooc/detail/dataset/source_access.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/dataset/npy_text.hpp"
#include "io/expect_error.hpp"
#include "support/temp_dir.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::header_of;
using test::npy;
using test::TempDir;
using Shape = std::vector<std::uint64_t>;

class SourceTest : public testing::Test {
 protected:
  Source open_text(std::string_view name, std::string_view text, const Format& format = {}) {
    return open(directory_.write(name, text), format);
  }

  void expect_refused(std::string_view problem, const std::string& text, Format format = {},
                      ErrorKind kind = ErrorKind::bad_input) {
    const auto path = directory_.write("refused.npy", text);
    expect_error(kind, problem, [&] { open(path, format); });
    expect_error(kind, path.string(), [&] { open(path, format); });
  }

  TempDir directory_;
};

TEST_F(SourceTest, ReadsNpy) {
  for (const int version : {1, 2, 3}) {
    const std::string header = header_of("'>i2'", "False", "(3, 4)") + "     \n";
    const Source source = open_text("a.npy", npy(header, 24, version));
    EXPECT_EQ(source.type(), (DType{ElementType::i2, true}));
    EXPECT_EQ(Shape(source.shape().begin(), source.shape().end()), (Shape{3, 4}));
    EXPECT_EQ(source.bytes(), 24u);
    ASSERT_EQ(storage_of(source).size(), 1u);
    EXPECT_EQ(storage_of(source)[0].offset, files_of(source)[0].size() - 24);
    EXPECT_EQ(source.format, "npy");
    EXPECT_EQ(source.format_version, std::to_string(version) + ".0");
    EXPECT_EQ(source.type_reason, "from its header");
  }
}

TEST_F(SourceTest, ReadsNpyByItsMagicWhateverItsName) {
  EXPECT_EQ(open_text("a.bin", npy(header_of("'<f8'", "False", "(2,)"), 16)).format, "npy");
}

TEST_F(SourceTest, ReadsEveryShape) {
  const auto shape_of = [&](const std::string& shape, std::size_t bytes) {
    const Source source = open_text("a.npy", npy(header_of("'|u1'", "False", shape), bytes));
    EXPECT_EQ(source.bytes(), bytes) << shape;
    return Shape(source.shape().begin(), source.shape().end());
  };
  EXPECT_EQ(shape_of("()", 1), Shape{});
  EXPECT_EQ(shape_of("(5,)", 5), Shape{5});
  EXPECT_EQ(shape_of("( 5 , 2 , )", 10), (Shape{5, 2}));
  EXPECT_EQ(shape_of("(5L, 2L)", 10), (Shape{5, 2}));
  EXPECT_EQ(shape_of("(0,)", 0), Shape{0});
  EXPECT_EQ(shape_of("(9223372036854775807, 9223372036854775807, 0)", 0).size(), 3u);
}

TEST_F(SourceTest, TakesKeysInAnyOrderAndQuotes) {
  const std::string header = R"({ "shape" : (2,),"fortran_order":False , 'descr':"<u4"})";
  EXPECT_EQ(open_text("a.npy", npy(header, 8)).type(), (DType{ElementType::u4, false}));
}

TEST_F(SourceTest, TakesFortranOrderWhereItIsTheSame) {
  EXPECT_EQ(open_text("a.npy", npy(header_of("'|u1'", "True", "(7,)"), 7)).bytes(), 7u);
  EXPECT_EQ(open_text("a.npy", npy(header_of("'|u1'", "True", "(1, 7, 1)"), 7)).bytes(), 7u);
  EXPECT_EQ(open_text("a.npy", npy(header_of("'|u1'", "True", "(5, 0, 7)"), 0)).bytes(), 0u);
  expect_refused("Fortran order", npy(header_of("'|u1'", "True", "(2, 7)"), 14));
}

TEST_F(SourceTest, UnderstandsWhatNumPyDoes) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"f4", "<f4"}, {"=f4", "<f4"}, {"|f4", "<f4"},     {"<f", "<f4"},     {">f", ">f4"},
      {"d", "<f8"},  {"e", "<f2"},   {"B", "|u1"},       {">b", "|i1"},     {"H", "<u2"},
      {">h", ">i2"}, {"I", "<u4"},   {"i", "<i4"},       {"q", "<i8"},      {">Q", ">u8"},
      {"?", "|u1"},  {"|b1", "|u1"}, {"float32", "<f4"}, {"uint16", "<u2"}, {"bool", "|u1"}};
  for (const auto& [descr, code] : cases) {
    const std::string quoted = "'" + std::string(descr) + "'";
    const Source source = open_text("a.npy", npy(header_of(quoted, "False", "(0,)"), 0));
    EXPECT_EQ(code_of(source.type().value()), code) << descr;
  }
  const Source flags = open_text("a.npy", npy(header_of("'|b1'", "False", "(2,)"), 2));
  EXPECT_EQ(flags.type_reason, "from its header: bool, 0 or 1");
  EXPECT_EQ(open_text("a.npy", npy(header_of("'|u1'", "False", "(2,)"), 2)).type_reason,
            "from its header");
}

TEST_F(SourceTest, RefusesTypesThatAreNoNumbers) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"'<c8'", "complex numbers"},
      {"'<f16'", "long doubles"},
      {"'|O'", "pickled Python objects"},
      {"'|S5'", "strings"},
      {"'<U5'", "strings"},
      {"'|V2'", "opaque bytes"},
      {"'<M8[ns]'", "dates"},
      {"'<f3'", "its type '<f3' is not known"},
      {"'<f345678901234567890123456789012345'", "'<f345678901234567890123456789012...' is not"},
      {"'bf16'", "is not known"},
      {"'f32'", "is not known"},
      {"'<float32'", "is not known"},
      {"'bfloat16'", "is not known"},
      {"'l'", "is not known"},
      {"''", "is not known"},
      {"None", "expected a type in quotes"}};
  for (const auto& [descr, problem] : cases) {
    expect_refused(problem, npy(header_of(descr, "False", "(1,)"), 8));
  }
}

TEST_F(SourceTest, HasWholeStructs) {
  const Format format{.type = parse_dtype("{x:f4,:V2,y:u1}"), .offset = 1, .count = {}};
  const Source source = open_text("a.bin", std::string(22, 'x'), format);
  EXPECT_EQ(source.type(), format.type);
  EXPECT_EQ(source.bytes(), 21u);
  EXPECT_EQ(source.element(), ElementType::u1);
  const auto path = directory_.write("b.bin", std::string(24, 'x'));
  expect_error(ErrorKind::bad_input, "23 bytes are not a whole number of structs of 7 bytes",
               [&] { open(path, format); });
  std::vector<File> files;
  files.push_back(File::open(path));
  expect_error(ErrorKind::bad_input, "20 bytes are not a whole number of structs of 7 bytes", [&] {
    SourceAccess::of_files(std::move(files), {{0, 0, 20}}, *format.type);
  });
  expect_refused("holds {x:<f4}, not the {x:>f4} asked for",
                 npy(header_of("[('x', '<f4')]", "False", "(1,)"), 4),
                 {.type = parse_dtype("{x:>f4}")});
}

TEST_F(SourceTest, RefusesHostileHeaders) {
  const std::string good = header_of("'|u1'", "False", "(1,)");
  const std::vector<std::string> headers{
      "",
      "{",
      "{}",
      "[]",
      "{'descr': '|u1', 'fortran_order': False}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
      "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}",
      "{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': [1]}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (01,)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (1,,)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (1.0,)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551616,)}",
      "{'descr': '|u1', 'fortran_order': False, 'shape': (1,",
      "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '|u1, 'fortran_order': False, 'shape': (1,)}",
      good + "x",
      good + good,
      good + std::string(1, '\0'),
      "__import__('os').system('true')",
      std::string(60'000, '{'),
      std::string(60'000, '('),
  };
  for (const std::string& header : headers) {
    expect_refused(".npy header not understood at byte", npy(header, 1));
  }
  expect_refused("no more than 64 dimensions", npy(header_of("'|u1'", "False",
                                                             [] {
                                                               std::string shape = "(";
                                                               for (int i = 0; i < 65; ++i)
                                                                 shape += "1,";
                                                               return shape + ")";
                                                             }()),
                                                   1));
}

TEST_F(SourceTest, ReadsHeadersOfUpTo64Kilobytes) {
  std::string header = header_of("'|u1'", "False", "(1,)");
  header.resize(65'536, ' ');
  EXPECT_EQ(open_text("a.npy", npy(header, 1, 2)).bytes(), 1u);
  header.resize(65'537, ' ');
  expect_refused("header claims 65537 bytes; no more than 65536 are read", npy(header, 1, 2));
}

TEST_F(SourceTest, RefusesSizesThatDoNotFit) {
  const auto sized = [](const std::string& shape, std::size_t bytes) {
    return npy(header_of("'<f4'", "False", shape), bytes);
  };
  expect_refused("is truncated: its header says", sized("(3,)", 11));
  expect_refused("is truncated", sized("(4611686018427387000,)", 8));
  expect_refused("more data than a file can hold", sized("(4294967296, 4294967296)", 8));
  expect_refused("more data than a file can hold", sized("(4611686018427387904,)", 0));
  expect_refused("more data than a file can hold", sized("(4611686018427387903,)", 0));
}

TEST_F(SourceTest, RefusesDamagedBeginnings) {
  expect_refused("is empty, not a .npy file", "");
  expect_refused("does not begin like a .npy file", "hello");
  expect_refused("does not begin like a .npy file", "hello world, hello world");
  const std::string good = npy(header_of("'|u1'", "False", "(1,)"), 1);
  for (std::size_t length = 6; length + 1 < good.size(); ++length) {
    expect_refused("ends within its .npy header", good.substr(0, length));
    if (HasFailure()) break;
    if (length + 2 == good.size()) break;
  }
  std::string version = good;
  version[6] = 4;
  expect_refused(".npy version 4.0 is not known", version);
  version[6] = 1;
  version[7] = 1;
  expect_refused(".npy version 1.1 is not known", version);
  std::string huge = npy("", 0, 2);
  huge[11] = '\x7f';
  expect_refused("header claims 2130706432 bytes", huge);
}

TEST_F(SourceTest, RefusesToContradictNpy) {
  const std::string good = npy(header_of("'<f4'", "False", "(1,)"), 4);
  expect_refused("holds <f4, not the <f8 asked for", good, {.type = parse_dtype("f8")});
  expect_refused("holds <f4, not the >f4 asked for", good, {.type = parse_dtype(">f4")});
  expect_refused("an offset is for raw files only", good, {.offset = 4}, ErrorKind::usage);
  EXPECT_EQ(open_text("a.npy", good, {.type = parse_dtype("f4")}).bytes(), 4u);
}

TEST_F(SourceTest, RawFilesHaveTheTypeOfTheirEnding) {
  const std::vector<std::tuple<const char*, const char*, const char*>> cases{
      {"a.u8", "|u1", "from .u8"},          {"a.i16", "<i2", "from .i16"},
      {"a.f32", "<f4", "from .f32"},        {"a.f64", "<f8", "from .f64"},
      {"a.bf16", "<bf16", "from .bf16"},    {"a.float32", "<f4", "from .float32"},
      {"a.pcm", "<i2", "from .pcm"},        {"a.bin", "|u1", "default for raw files"},
      {"a", "|u1", "default for raw files"}};
  for (const auto& [name, code, reason] : cases) {
    const Source source = open_text(name, "12345678");
    EXPECT_EQ(code_of(source.type().value()), code);
    EXPECT_EQ(source.type_reason, reason);
    EXPECT_EQ(source.format, "raw");
    EXPECT_TRUE(source.shape().empty());
  }
  const Source asked = open_text("b.f32", "12345678", {.type = parse_dtype("u2")});
  EXPECT_EQ(code_of(asked.type().value()), "<u2");
  EXPECT_EQ(asked.type_reason, "asked for");
}

TEST_F(SourceTest, UsesAPartOfARawFile) {
  const Source source = open_text("a.f32", std::string(23, 'x'), {.offset = 3, .count = 4});
  EXPECT_EQ(storage_of(source)[0], (Extent{0, 3, 16}));
  EXPECT_EQ(open_text("a.f32", std::string(23, 'x'), {.offset = 23}).bytes(), 0u);
  EXPECT_EQ(open_text("a.f32", std::string(23, 'x'), {.count = 0}).bytes(), 0u);
  EXPECT_EQ(open_text("a.f32", "").bytes(), 0u);

  const auto path = directory_.write("a.f32", std::string(23, 'x'));
  expect_error(ErrorKind::bad_input, "23 bytes are not a whole number of float32 elements",
               [&] { open(path); });
  expect_error(ErrorKind::bad_input, "has 23 bytes, fewer than the 24 to skip",
               [&] { open(path, {.offset = 24}); });
  expect_error(ErrorKind::bad_input, "not a whole number", [&] { open(path, {.count = 6}); });
  expect_error(ErrorKind::bad_input, "there are only 5 elements, not the 6 asked for",
               [&] { open(path, {.offset = 3, .count = 6}); });
}

TEST_F(SourceTest, SeveralFilesAreOneSequence) {
  const std::vector<std::filesystem::path> paths{
      directory_.write("a.f32", std::string(8, 'a')), directory_.write("b.f32", ""),
      directory_.write("c.npy", npy(header_of("'<f4'", "False", "(2, 1)"), 8)),
      directory_.write("d.f32", std::string(10, 'd'))};
  expect_error(ErrorKind::bad_input, "d.f32: 10 bytes", [&] { open(paths); });
  const Source all = open(paths, {.count = 6});
  EXPECT_EQ(all.bytes(), 24u);
  EXPECT_EQ(files_of(all).size(), 4u);
  EXPECT_EQ(storage_of(all)[2].bytes, 8u);
  EXPECT_EQ(all.format, "mixed");
  EXPECT_TRUE(all.shape().empty());
  EXPECT_EQ(storage_of(open(paths, {.count = 3}))[1].bytes, 4u);
  expect_error(ErrorKind::usage, "at least one file",
               [] { open(std::span<const std::filesystem::path>{}); });
}

TEST_F(SourceTest, SkipsElementsOfAllFiles) {
  const std::vector<std::filesystem::path> paths{directory_.write("a.f32", std::string(8, 'a')),
                                                 directory_.write("b.f32", std::string(10, 'b'))};
  const Source some = open(paths, {.skip = 3, .count = 1});
  ASSERT_EQ(storage_of(some).size(), 1u);
  EXPECT_EQ(storage_of(some)[0], (Extent{1, 4, 4}));
  expect_error(ErrorKind::bad_input, "only 4 elements, fewer than the 5 to skip",
               [&] { open(paths, {.skip = 5, .count = 0}); });
}

TEST_F(SourceTest, FilesOfOneDatasetHaveOneType) {
  const std::vector<std::filesystem::path> paths{directory_.write("a.f32", "1234"),
                                                 directory_.write("b.i32", "1234")};
  expect_error(ErrorKind::bad_input, "b.i32: holds <i4, but " + paths[0].string() + " holds <f4",
               [&] { open(paths); });
}

TEST_F(SourceTest, CountDropsTheShapeItBreaks) {
  const std::string file = npy(header_of("'|u1'", "False", "(2, 3)"), 6);
  EXPECT_EQ(open_text("a.npy", file, {.count = 6}).shape().size(), 2u);
  EXPECT_TRUE(open_text("a.npy", file, {.count = 5}).shape().empty());
}

TEST_F(SourceTest, MovesAndIsNotCopied) {
  static_assert(!std::is_copy_constructible_v<Source> && !std::is_copy_assignable_v<Source>);
  static_assert(std::is_nothrow_move_constructible_v<Source>);
  Source first = open_text("a.f32", "12345678");
  const Source second = std::move(first);
  EXPECT_EQ(second.bytes(), 8u);
  expect_error(ErrorKind::usage, "moved from", [&] { SourceAccess::require_unread(first); });
  expect_error(ErrorKind::usage, "moved from", [&] { section(first, 0, 1); });
}

TEST_F(SourceTest, CanBeMadeByHand) {
  const auto path = directory_.write("data", std::string(100, 'x'));
  const Source plain = open_bytes(path);
  EXPECT_EQ(plain.bytes(), 100u);
  EXPECT_FALSE(plain.type().has_value());
  EXPECT_EQ(storage_of(plain)[0], (Extent{0, 0, 100}));

  const auto make = [&](const std::vector<Extent>& extents) {
    std::vector<File> files;
    files.push_back(File::open(path));
    return SourceAccess::of_files(std::move(files), extents, {ElementType::f4, false});
  };
  EXPECT_EQ(make({{0, 98, 2}, {0, 1, 2}, {0, 100, 0}}).bytes(), 4u);
  expect_error(ErrorKind::bad_input, "ends before byte", [&] { make({{0, 98, 4}}); });
  expect_error(ErrorKind::bad_input, "ends before byte", [&] { make({{0, 101, 0}}); });
  expect_error(ErrorKind::bad_input, "an extent of no file", [&] { make({{1, 0, 4}}); });
  expect_error(ErrorKind::bad_input, "not a whole number", [&] { make({{0, 0, 5}}); });
}

TEST_F(SourceTest, HasSections) {
  std::vector<std::filesystem::path> files;
  files.push_back(directory_.write("a.f32", std::string(20, 'a')));
  files.push_back(directory_.write("empty.f32", ""));
  files.push_back(directory_.write("b.f32", std::string(12, 'b')));
  const Source whole = open(files);
  EXPECT_FALSE(whole.is_section());
  EXPECT_EQ(whole.whole_bytes(), 32u);
  const Source part = section(whole, 3, 4);
  EXPECT_TRUE(part.is_section());
  EXPECT_EQ(part.type(), whole.type());
  EXPECT_EQ(part.bytes(), 16u);
  EXPECT_EQ(part.bytes_before(), 12u);
  EXPECT_EQ(part.whole_bytes(), 32u);
  ASSERT_EQ(storage_of(part).size(), 2u);
  EXPECT_EQ(storage_of(part)[0], (Extent{0, 12, 8}));
  EXPECT_EQ(storage_of(part)[1], (Extent{2, 0, 8}));
  const Source inner = section(part, 2, 1);  // of the second file only
  EXPECT_EQ(inner.bytes_before(), 20u);
  EXPECT_EQ(inner.whole_bytes(), 32u);
  ASSERT_EQ(storage_of(inner).size(), 1u);
  EXPECT_EQ(storage_of(inner)[0], (Extent{2, 0, 4}));
  EXPECT_TRUE(section(whole, 8, 0).is_empty());
  EXPECT_EQ(storage_of(section(whole, 0, 8)).size(), 2u);
  expect_error(ErrorKind::usage, "has 8 elements, not 3 from index 6 on",
               [&] { section(whole, 6, 3); });
  expect_error(ErrorKind::usage, "has 8 elements", [&] { section(whole, 9, 0); });
}

TEST_F(SourceTest, ShardsCoverTheWhole) {
  const Source whole = open_text("a.u2", std::string(2 * 1003, 'a'), {});
  for (const std::uint64_t count : {1u, 2u, 7u, 11u, 5000u}) {
    std::uint64_t end = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Source part = shard(whole, i, count, 100);
      EXPECT_EQ(part.bytes_before(), end);
      EXPECT_EQ(end % 200, 0u);
      end += part.bytes();
    }
    EXPECT_EQ(end, whole.bytes());
  }
  EXPECT_TRUE(shard(whole, 0, 2).is_empty());
  EXPECT_EQ(shard(whole, 1, 2).bytes(), whole.bytes());
  expect_error(ErrorKind::usage, "there is no shard 2 of 2", [&] { shard(whole, 2, 2); });
}

TEST_F(SourceTest, ASectionOutlivesTheWhole) {
  const Source part = [&] {
    const Source whole = open_text("a.u8", "abc");
    return section(whole, 1, 2);
  }();
  char letter = 0;
  ASSERT_EQ(files_of(part).size(), 1u);
  read_exactly(files_of(part)[0], storage_of(part)[0].offset,
               std::as_writable_bytes(std::span(&letter, 1)));
  EXPECT_EQ(letter, 'b');
}

}  // namespace
}  // namespace ooc::detail
