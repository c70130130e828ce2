#include "cli/doctor.hpp"

#include <gtest/gtest.h>

namespace hipbench {
namespace {

constexpr std::string_view kLevel2 = "flags\t\t: fpu cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3";

TEST(Doctor, TellsTheCpuLevelFromWholeFlagNames) {
  const std::string level2(kLevel2);
  const std::string level3 = level2 + " avx avx2 bmi1 bmi2 f16c fma abm movbe xsave";
  EXPECT_EQ(x86_64_level(""), "x86-64-v1");
  EXPECT_EQ(x86_64_level(level2), "x86-64-v2");
  EXPECT_EQ(x86_64_level(level2 + " avx2 bmi1 bmi2 f16c fma4 abm movbe xsave"), "x86-64-v2")
      << "fma4 is not fma, avx2 not avx";
  EXPECT_EQ(x86_64_level(level3), "x86-64-v3");
  EXPECT_EQ(x86_64_level(level3 + " avx512f avx512bw avx512cd avx512dq avx512vl"), "x86-64-v4");
}

TEST(Doctor, RefusesWhatItDoesNotKnow) {
  const std::vector<std::string> arguments = {"--jsn"};
  EXPECT_EQ(doctor_main(arguments), 2);
}

}  // namespace
}  // namespace hipbench
