#include "draw/edge_labels.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ooc_run {
namespace {

using Edges = std::vector<double>;
using Strings = std::vector<std::string>;

TEST(EdgeLabels, SixDigitsOrFewer) {
  EXPECT_EQ(edge_labels(Edges{-4.455078125, -3.9000000000000004, 0.1 + 0.2, 4.869140625}),
            (Strings{"-4.45508", "-3.9", "0.3", "4.86914"}));
  EXPECT_EQ(edge_labels(Edges{1.25e-300, 1.23456789e20}), (Strings{"1.25e-300", "1.23457e+20"}));
}

TEST(EdgeLabels, WholeNumbersInFull) {
  EXPECT_EQ(edge_labels(Edges{-0.0, 1048575, 1048576}), (Strings{"0", "1048575", "1048576"}));
  EXPECT_EQ(edge_labels(Edges{0, 3.4e38}), (Strings{"0", "3.4e+38"}));
}

TEST(EdgeLabels, NeighboursAreToldApart) {
  EXPECT_EQ(edge_labels(Edges{1, 1.00000023, 1.5}), (Strings{"1", "1.0000002", "1.5"}));
  const double next = std::nextafter(1.5, 2.0);
  const Strings labels = edge_labels(Edges{1.5, next});
  EXPECT_EQ(labels[0], "1.5");
  EXPECT_EQ(std::stod(labels[1]), next);
}

TEST(EdgeLabels, BinsOfNoWidthAreNoReasonForMoreDigits) {
  EXPECT_EQ(edge_labels(Edges{0.1 + 0.2, 0.1 + 0.2, 1}), (Strings{"0.3", "0.3", "1"}));
}

TEST(EdgeLabels, OfNoBins) {
  EXPECT_TRUE(edge_labels({}).empty());
}

}  // namespace
}  // namespace ooc_run
