#include "emulator/device/device_printf.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

namespace hipbench::emulator {
namespace {

// A message as device code builds it.
class Message {
 public:
  explicit Message(std::string_view format) { text(format); }
  Message& text(std::string_view text) {
    const size_t at = words_.size();
    words_.resize(at + (text.size() + 1 + 7) / 8);
    std::memcpy(words_.data() + at, text.data(), text.size());
    return *this;
  }
  Message& word(u64 value) {
    words_.push_back(value);
    return *this;
  }
  Message& real(double value) { return word(std::bit_cast<u64>(value)); }
  std::string format() const { return format_device_printf(words_); }

 private:
  std::vector<u64> words_;
};

TEST(DevicePrintf, FormatsIntegersOfEveryLength) {
  EXPECT_EQ(Message("%d %u %i").word(0xffffffff).word(0xffffffff).word(7).format(), "-1 4294967295 7");
  EXPECT_EQ(Message("%lld %llu %zu %ld").word(~u64{0}).word(~u64{0}).word(u64{1} << 40).word(5).format(),
            "-1 18446744073709551615 1099511627776 5");
  EXPECT_EQ(Message("%hhd %hu %x %#X %o").word(0x1ff).word(0x12345).word(255).word(255).word(8).format(),
            "-1 9029 ff 0XFF 10");
  EXPECT_EQ(Message("%5d|%-5d|%05d|%+d|%.3d").word(42).word(42).word(42).word(42).word(42).format(),
            "   42|42   |00042|+42|042");
  EXPECT_EQ(Message("%c%c").word('h').word('i').format(), "hi");
}

TEST(DevicePrintf, FormatsFloats) {
  EXPECT_EQ(Message("%f %.2f %e %g %5.1f").real(1.5).real(2.25).real(1e10).real(0.5).real(-3.14).format(),
            "1.500000 2.25 1.000000e+10 0.5  -3.1");
}

TEST(DevicePrintf, FormatsStringsAndWhatFollowsThem) {
  EXPECT_EQ(Message("<%s> %d").text("a string longer than eight bytes").word(3).format(),
            "<a string longer than eight bytes> 3");
  EXPECT_EQ(Message("%5s|%-5s|%.2s|%d").text("ab").text("ab").text("abcdef").word(1).format(), "   ab|ab   |ab|1");
  EXPECT_EQ(Message("%s%d").text("").word(4).format(), "4");
}

TEST(DevicePrintf, TakesWidthAndPrecisionFromArguments) {
  EXPECT_EQ(Message("%*d|%.*f|%*d").word(4).word(7).word(1).real(2.55).word(0xfffffffc).word(7).format(),
            "   7|2.5|7   ");
}

TEST(DevicePrintf, PrintsPlainTextAndPercentSigns) {
  EXPECT_EQ(Message("100%% of nothing\n").format(), "100% of nothing\n");
  EXPECT_EQ(Message("").format(), "");
  EXPECT_EQ(Message("%p").word(0x1234).format(), "0x1234");
}

TEST(DevicePrintf, SurvivesHostileMessages) {
  EXPECT_EQ(format_device_printf({}), "");
  EXPECT_EQ(Message("%n%n%d").word(1).word(2).word(3).format(), "3");
  EXPECT_EQ(Message("a %d b %s c").format(), "a  b  c") << "missing arguments print nothing";
  EXPECT_LE(Message("%999999999999d").word(1).format().size(), 5000u);
  EXPECT_LE(Message("%.*f").word(0x7fffffff).real(1).format().size(), 5000u);
  EXPECT_EQ(Message("%").format(), "%");
  EXPECT_EQ(Message("%y %5").word(1).format(), "%y %5");
  const std::vector<u64> unterminated(3, 0x6161616161616161);
  EXPECT_EQ(format_device_printf(unterminated), std::string(24, 'a'));
}

}  // namespace
}  // namespace hipbench::emulator
