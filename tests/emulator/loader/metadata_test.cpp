#include "emulator/loader/metadata.hpp"

#include <gmock/gmock.h>

#include "tests/emulator/loader/test_data.hpp"

namespace hipbench::emulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Just enough msgpack: fixmap, fixarray, str8, uint32.
std::string map(int pairs) { return {static_cast<char>(0x80 | pairs)}; }
std::string array(int items) { return {static_cast<char>(0x90 | items)}; }
std::string text(const std::string& content) {
  return std::string{'\xd9', static_cast<char>(content.size())} + content;
}
std::string number(u32 value) {
  return {'\xce', static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}
std::string code_object(const std::string& kernel) { return map(1) + text("amdhsa.kernels") + array(1) + kernel; }

TEST(Metadata, ReadsRequiredWorkgroupSizes) {
  const std::string bytes =
      code_object(map(3) + text(".symbol") + text("k.kd") + text(".reqd_workgroup_size") + array(3) + number(64) +
                  number(2) + number(1) + text(".kernarg_segment_size") + number(40));
  const auto kernels = parse_metadata(as_bytes(bytes));
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_EQ((*kernels)[0].symbol, "k.kd");
  EXPECT_THAT((*kernels)[0].kernel.required_workgroup_size, ElementsAre(64, 2, 1));
  EXPECT_EQ((*kernels)[0].kernel.kernarg_segment_size, 40u);
}

TEST(Metadata, SaysWhichFieldIsMalformed) {
  const auto reason = [](const std::string& bytes) {
    const auto kernels = parse_metadata(as_bytes(bytes));
    return kernels ? std::string("fine") : kernels.error().message;
  };
  EXPECT_THAT(reason(code_object(map(0))), HasSubstr(".symbol"));
  EXPECT_THAT(reason(code_object(map(1) + text(".vgpr_count") + text("many"))), HasSubstr(".vgpr_count"));
  EXPECT_THAT(reason(code_object(map(1) + text(".wavefront_size") + number(32))), HasSubstr(".wavefront_size"));
  EXPECT_THAT(reason(code_object(map(2) + text(".symbol") + text("k.kd") + text(".args") + array(1) + map(2) +
                                 text(".offset") + number(8) + text(".size") + number(8))),
              HasSubstr("leaves the kernarg segment"));
  EXPECT_THAT(reason(map(1) + text("amdhsa.kernels")), HasSubstr("cut off"));
  EXPECT_THAT(reason(std::string(100, '\x91')), HasSubstr("too deeply"));
  EXPECT_THAT(reason("\xdd\xff\xff\xff\xff"), HasSubstr("metadata"));  // an array of 2^32 - 1 elements
  EXPECT_EQ(reason(number(5)), "fine") << "no kernels";
}

}  // namespace
}  // namespace hipbench::emulator
