#include "sandbox/init/wire.hpp"

#include <gtest/gtest.h>

namespace hipbench::sandbox::wire {
namespace {

Config example() {
  Config config;
  config.argv = {"/programs/x", "", "an argument"};
  config.env = {"A=1"};
  config.working_directory = "/tmp";
  config.fds = {5, 9};
  config.output_files = {"/tmp/a"};
  config.filter = std::string("\0\1\2", 3);
  config.memory_bytes = uint64_t{1} << 40;
  config.limit_processes = true;
  config.isolated = false;
  return config;
}

TEST(Wire, a_configuration_survives_the_trip) {
  const auto decoded = decode(encode(example()));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->argv, example().argv);
  EXPECT_EQ(decoded->env, example().env);
  EXPECT_EQ(decoded->fds, example().fds);
  EXPECT_EQ(decoded->output_files, example().output_files);
  EXPECT_EQ(decoded->filter, example().filter);
  EXPECT_EQ(decoded->memory_bytes, example().memory_bytes);
  EXPECT_TRUE(decoded->limit_processes);
  EXPECT_FALSE(decoded->isolated);
}

TEST(Wire, damaged_bytes_are_refused) {
  const std::string bytes = encode(example());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode(bytes + "x"));
  EXPECT_FALSE(decode(std::string(64, '\xff')));
}

}  // namespace
}  // namespace hipbench::sandbox::wire
