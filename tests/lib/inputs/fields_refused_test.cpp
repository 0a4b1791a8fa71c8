// Tests which structs an operator cannot read or write, and which are read without a copy.

#include <ooc/fold.hpp>
#include <ooc/map.hpp>
#include <ooc/records.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "io/expect_error.hpp"
#include "lib/inputs/fields_fixture.hpp"

namespace ooc::detail {
namespace {

using test::expect_error;
using test::layouts;
using test::Particle;
using test::Same;
using test::Weighed;

using StructTest = test::FieldsFixture;

INSTANTIATE_TEST_SUITE_P(All, StructTest, testing::Values("cpu"));

TEST_P(StructTest, IsReadWhereItIsIfTheFileHasTheSame) {
  const Source same = open(write("same.npy", parse_dtype(layouts[0])));
  const PassInput input = input_of<Particle>(same);
  EXPECT_TRUE(input.decoding.moves.empty());
  EXPECT_EQ(input.record.bytes, sizeof(Particle));
  EXPECT_EQ(input.record.alignment, alignof(Particle));

  // Fields that follow each other on both sides are moved together.
  const Source packed = open(write("packed.npy", parse_dtype(layouts[1])));
  const PassInput other = input_of<Particle>(packed);
  EXPECT_EQ(other.record.bytes, 20u);
  EXPECT_EQ(other.decoding.moves.size(), 2u);
  EXPECT_EQ(other.decoded_bytes(), sizeof(Particle));
}

TEST_P(StructTest, IsRefusedWithTheFieldThatDoesNotFit) {
  const auto refuse = [&](std::string_view problem, const std::string& layout) {
    const Source source = open(write("in.npy", parse_dtype(layout)));
    expect_error(ErrorKind::bad_input, problem, [&] { compare<Particle>(source); });
    expect_error(ErrorKind::bad_input, problem, [&] {
      map(*coordinator_, Same{}, source, target("out.npy", type_of<Particle>()));
    });
    EXPECT_FALSE(std::filesystem::exists(dir_.path() / "out.npy"));
  };
  refuse("has no field 'mass', which the operator takes as <f8", "{x:f4,kind:i2,cell:u2[3]}");
  try {
    compare<Particle>(open(dir_.path() / "in.npy"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(error.details().hint.find("ooc::field("), std::string::npos);
  }
  refuse("field 'x' holds <f8, the operator takes it as <f4", "{x:f8,kind:i2,mass:f8,cell:u2[3]}");
  refuse("field 'kind' holds <u2, the operator takes it as <i2",
         "{x:f4,kind:u2,mass:f8,cell:u2[3]}");
  refuse("field 'cell' holds >u2[4], the operator takes it as <u2[3]",
         "{x:f4,kind:i2,mass:f8,cell:>u2[4]}");
}

struct Undeclared {
  double mass;
};

template <class T>
struct Ignore {
  using Input = T;
  using Partial = int;
  void consume(Stream&, DeviceInput<T>, int&) const {}
  void merge(int&, const int&) const {}
};

struct Twice {
  float x, y;
  static constexpr auto fields = ooc::fields(field("x", &Twice::x), field("x", &Twice::y));
};

struct Shared {
  float x;
  static constexpr auto fields = ooc::fields(field("x", &Shared::x), field("y", &Shared::x));
};

template <class T>
struct Make {
  using Input = float;
  using Output = T;
  void transform(Stream&, DeviceSpan<const float>, DeviceSpan<T>) const {}
};

TEST_P(StructTest, HasDistinctFields) {
  const Source structs = open(write("in.npy", parse_dtype("{x:f4,y:f4}")));
  const Source numbers = open(dir_.write("x.f32", std::string(160, 'x')));
  const auto refuse = [&]<class T>(std::type_identity<T>, std::string_view problem) {
    expect_error(ErrorKind::usage, problem, [&] { fold(*coordinator_, Ignore<T>{}, structs); });
    expect_error(ErrorKind::usage, problem,
                 [&] { map(*coordinator_, Make<T>{}, numbers, target("out.npy", type_of<T>())); });
  };
  refuse(std::type_identity<Twice>{}, "declares field 'x' twice");
  refuse(std::type_identity<Shared>{}, "declares field 'y' where another field is");
}

TEST_P(StructTest, IsNotReadAsSomethingElse) {
  const Source structs = open(write("in.npy", parse_dtype("{mass:f8,kind:i2}")));
  const auto refuse = [&]<class T>(std::type_identity<T>, std::string_view problem,
                                   const Source& source) {
    expect_error(ErrorKind::bad_input, problem, [&] { fold(*coordinator_, Ignore<T>{}, source); });
  };
  refuse(std::type_identity<double>{}, "the operator takes float64", structs);
  refuse(std::type_identity<std::uint8_t>{}, "the operator takes uint8", structs);
  refuse(std::type_identity<Row<double>>{}, "the operator takes float64", structs);
  refuse(std::type_identity<Undeclared>{}, "a struct that does not declare its fields", structs);
  refuse(std::type_identity<std::array<std::byte, 4>>{}, "holds structs of 10 bytes", structs);
  EXPECT_NO_THROW(fold(*coordinator_, Ignore<std::array<std::byte, 10>>{}, structs));
  EXPECT_NO_THROW(fold(*coordinator_, Ignore<std::byte>{}, structs));

  const Source numbers = open(dir_.write("x.f64", std::string(160, 'x')));
  refuse(std::type_identity<Weighed>{}, "holds float64, the operator takes structs {mass:<f8",
         numbers);
  const Source plain = open_bytes(dir_.path() / "x.f64");
  EXPECT_NO_THROW(fold(*coordinator_, Ignore<Weighed>{}, plain));
}

struct Numbers {
  using Input = Particle;
  using Output = std::uint32_t;
  void transform(Stream&, DeviceSpan<const Particle>, DeviceSpan<std::uint32_t>) const {}
};

TEST_P(StructTest, IsWrittenAsItIsInMemory) {
  const Source source = open(write("in.npy", type_of<Particle>()));
  for (const char* type : {"f8", "{x:f4}", "{x:f4,kind:i2,mass:f8,cell:u2[3]}",
                           "{x:>f4,kind:i2,:V2,mass:f8,cell:u2[3],:V2}"}) {
    expect_error(ErrorKind::usage, "the operator makes {x:<f4,kind:<i2,:V2,mass:<f8",
                 [&] { map(*coordinator_, Same{}, source, target("out.npy", parse_dtype(type))); });
  }
  const auto problem = "the operator makes uint32, the target is to hold {a:<u4}";
  expect_error(ErrorKind::usage, problem, [&] {
    map(*coordinator_, Numbers{}, source, target("out.npy", parse_dtype("{a:u4}")));
  });
}

}  // namespace
}  // namespace ooc::detail
