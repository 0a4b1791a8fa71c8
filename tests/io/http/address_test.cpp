#include "io/expect_error.hpp"

#include <ooc/detail/http/address.hpp>
#include <ooc/detail/http/secrets.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace ooc::detail {
namespace {

using test::expect_error;

/// The tests begin without variables of the environment that addresses depend on.
class AddressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name :
         {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION",
          "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
      ::unsetenv(name);
    }
  }
  void TearDown() override { SetUp(); }
};

TEST_F(AddressTest, Scheme) {
  EXPECT_EQ(scheme_of("HTTPS://h/x"), "https");
  EXPECT_EQ(scheme_of("/data/a:b"), "");
  EXPECT_EQ(scheme_of("://x"), "");
  EXPECT_EQ(scheme_of("./a://b"), "");
}

TEST_F(AddressTest, OnlyAddressesOfServers) {
  EXPECT_FALSE(parse_address("a.f32"));
  EXPECT_FALSE(parse_address("gs://bucket/x"));
  EXPECT_FALSE(parse_address("file:///x"));
}

TEST_F(AddressTest, TheNameHasNoSignature) {
  const auto address = parse_address("https://h:8443/a/b.f32?X-Amz-Signature=1#part");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->name, "https://h:8443/a/b.f32");
  EXPECT_EQ(address->url, "https://h:8443/a/b.f32?X-Amz-Signature=1");
  EXPECT_EQ(address->server(), "https://h:8443");
  EXPECT_FALSE(address->keys);
}

TEST_F(AddressTest, AnAtSignInThePathIsOfNoUser) {
  for (const char* const path :
       {"https://h/?me@x", "https://h/me@x", "https://h/x?me@x", "https://h?me@x"}) {
    EXPECT_EQ(parse_address(path)->server(), "https://h") << path;
  }
  EXPECT_EQ(parse_address("https://h:80/a:b@x")->server(), "https://h:80");
  EXPECT_EQ(parse_address("https://[::1]/x?a@b")->server(), "https://[::1]");
}

TEST_F(AddressTest, NoPasswordIsShown) {
  for (const char* const path : {"https://me:secret@h/x", "https://me:a/secret@h/x",
                                 "https://me:a?secret@h/x", "https://me:a#secret@h/x"}) {
    EXPECT_EQ(shown_address(path), "https://h/x");
    expect_error(ErrorKind::bad_input, "https://h/x: an address has no user",
                 [&] { parse_address(path); });
  }
}

TEST_F(AddressTest, NoOutputs) {
  require_no_address("/data/a:b");
  expect_error(ErrorKind::usage, "https://h/x: files are written to this machine only",
               [] { require_no_address("https://h/x?signature"); });
}

TEST_F(AddressTest, Refusals) {
  expect_error(ErrorKind::bad_input, "no user", [] { parse_address("https://me:secret@h/x"); });
  expect_error(ErrorKind::bad_input, "no address", [] { parse_address("https:///x"); });
  for (const char* const path : {"s3://", "s3://bucket", "s3://bucket/", "s3:///x", "s3://a b/x"}) {
    expect_error(ErrorKind::bad_input, "no address", [&] { parse_address(path); });
  }
}

TEST_F(AddressTest, Buckets) {
  EXPECT_EQ(parse_address("s3://bucket/a b/ü")->url,
            "https://bucket.s3.us-east-1.amazonaws.com/a%20b/%C3%BC");
  ::setenv("AWS_DEFAULT_REGION", "eu-west-1", 1);
  EXPECT_EQ(parse_address("s3://my.bucket/x")->url,
            "https://s3.eu-west-1.amazonaws.com/my.bucket/x");
  ::setenv("AWS_DEFAULT_REGION", "cn-north-1", 1);
  EXPECT_EQ(parse_address("s3://bucket/x")->url, "https://bucket.s3.cn-north-1.amazonaws.com.cn/x");
  ::setenv("AWS_DEFAULT_REGION", "eu-west-1", 1);
  ::setenv("AWS_ENDPOINT_URL", "http://localhost:9000/", 1);
  ::setenv("AWS_ACCESS_KEY_ID", "id", 1);
  const auto address = parse_address("s3://bucket/x");
  EXPECT_EQ(address->url, "http://localhost:9000/bucket/x");
  EXPECT_EQ(address->server(), "http://localhost:9000");
  EXPECT_EQ(address->name, "s3://bucket/x");
  EXPECT_EQ(address->keys->id, "id");
  EXPECT_EQ(address->keys->region, "eu-west-1");
}

}  // namespace
}  // namespace ooc::detail
