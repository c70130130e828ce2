#include "emulator/timing/parameters.hpp"

#include <gmock/gmock.h>

#include "common/files.hpp"

namespace hipbench::emulator {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string built_in() {
  const auto text = read_file(HIPBENCH_SOURCE_DIR "/emulator/timing/mi300x.toml");
  EXPECT_TRUE(text);
  return text ? *text : "";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST(TimingParameters, TheBuiltInOnesAreThoseOfTheFile) {
  const auto parsed = parse_timing_parameters(built_in());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->device.cus_per_xcd, 38);
  EXPECT_EQ(parsed->l2.bytes, mi300x_timing().l2.bytes);
  EXPECT_THAT(std::string(timing_model_version()), StartsWith("mi300x-"));
}

TEST(TimingParameters, EveryConstantNeedsItsUnitAndSource) {
  const auto parsed = parse_timing_parameters(replaced(built_in(), "unit = \"MHz\", ", ""));
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, HasSubstr("device.clock_mhz needs a value, a unit and a source"));
}

TEST(TimingParameters, MissingUnknownAndSenselessOnesAreErrors) {
  EXPECT_THAT(parse_timing_parameters("[device]\n").error().message, HasSubstr("are given"));
  EXPECT_THAT(parse_timing_parameters(replaced(built_in(), "clock_mhz", "clock_ghz")).error().message,
              HasSubstr("no constant device.clock_ghz"));
  EXPECT_THAT(parse_timing_parameters(replaced(built_in(), "value = 2100", "value = -1")).error().message,
              HasSubstr("not a positive number"));
  EXPECT_THAT(parse_timing_parameters("[device").error().message, HasSubstr("line 1"));
}

}  // namespace
}  // namespace hipbench::emulator
