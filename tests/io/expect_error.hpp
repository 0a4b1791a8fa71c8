#pragma once

#include <gtest/gtest.h>

#include <ooc/error.hpp>

#include <optional>
#include <string_view>

namespace ooc::detail::test {

/// Runs `body`, which must throw an Error of this kind with `text` in its message.
template <class Body>
void expect_error(ErrorKind kind, std::string_view text, Body&& body) {
  std::optional<Error> caught;
  try {
    body();
  } catch (const Error& error) {
    caught = error;
  }
  ASSERT_TRUE(caught.has_value()) << "nothing was thrown; expected: " << text;
  EXPECT_EQ(static_cast<int>(caught->kind()), static_cast<int>(kind)) << caught->what();
  EXPECT_NE(std::string_view{caught->what()}.find(text), std::string_view::npos)
      << "message: " << caught->what() << "\nexpected: " << text;
}

}  // namespace ooc::detail::test
