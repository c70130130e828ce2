#include "sandbox/host_paths.hpp"

#include <gtest/gtest.h>

namespace hipbench::sandbox {
namespace {

TEST(HostPaths, rewrites_whole_paths_only_and_once) {
  Policy policy;
  policy.mounts = {{"/host/in", "/in", Access::ReadOnly}, {"/host/in/deep", "/in/deep", Access::ReadOnly}};
  std::vector<TemporaryDirectory> folders;
  const auto paths = HostPaths::on_the_host(policy, folders);
  ASSERT_TRUE(paths) << paths.error().message;
  EXPECT_EQ(paths->rewrite("-I/in/x"), "-I/host/in/x");
  EXPECT_EQ(paths->rewrite("/in"), "/host/in");
  EXPECT_EQ(paths->rewrite("/in/deep/y"), "/host/in/deep/y");
  EXPECT_EQ(paths->rewrite("/input"), "/input");
  EXPECT_EQ(paths->rewrite("/a/in"), "/a/in");
  EXPECT_EQ(paths->rewrite("/in/a:/in/b"), "/host/in/a:/host/in/b");
  EXPECT_EQ(paths->rewrite("plain"), "plain");
}

}  // namespace
}  // namespace hipbench::sandbox
