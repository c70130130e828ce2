#include "results/comparability.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace hipbench::results {
namespace {

using testing::HasSubstr;

ComparabilityKey key() {
  return {.problem = "fp8_gemm",
          .track = "kernel",
          .provenance = "modelled",
          .device = "emulated",
          .toolchain = "clang 19.1.7",
          .baseline_sha256 = std::string(64, 'a'),
          .timing_model = "mi300x-1.7012c48a",
          .shapes = {"m=64,n=64,k=128", "m=96,n=64,k=128"}};
}

TEST(Comparability, TheSameInAnotherOrderMayBeCompared) {
  ComparabilityKey other = key();
  std::swap(other.shapes[0], other.shapes[1]);
  EXPECT_FALSE(why_not_comparable(key(), other));
}

TEST(Comparability, EveryPartOfTheKeyIsAReasonToRefuse) {
  struct Case {
    void (*change)(ComparabilityKey&);
    const char* reason;
  };
  const Case cases[] = {
      {[](ComparabilityKey& k) { k.problem = "moe"; }, "different problems: \"fp8_gemm\" and \"moe\""},
      {[](ComparabilityKey& k) { k.track = "host"; }, "different tracks"},
      {[](ComparabilityKey& k) { k.provenance = "measured"; }, "different kinds: \"modelled\" and \"measured\""},
      {[](ComparabilityKey& k) { k.device = "hip"; }, "different devices"},
      {[](ComparabilityKey& k) { k.toolchain = "clang 20"; }, "different compilers: \"clang 19.1.7\" and \"clang 20\""},
      {[](ComparabilityKey& k) { k.baseline_sha256 = ""; }, "different baselines: aaaaaaaaaaaa and none"},
      {[](ComparabilityKey& k) { k.timing_model = ""; },
       "versions of the timing model: \"mi300x-1.7012c48a\" and none"},
      {[](ComparabilityKey& k) { k.shapes.pop_back(); }, "only one side has m=96,n=64,k=128"},
  };
  for (const Case& one : cases) {
    ComparabilityKey other = key();
    one.change(other);
    const auto forth = why_not_comparable(key(), other), back = why_not_comparable(other, key());
    ASSERT_TRUE(forth && back) << one.reason;
    EXPECT_THAT(*forth, HasSubstr(one.reason));
  }
}

TEST(Provenances, HaveNames) {
  for (const Provenance p : {Provenance::Measured, Provenance::Modelled, Provenance::Published})
    EXPECT_EQ(provenance_from(to_string(p)), p);
  EXPECT_FALSE(provenance_from("guessed"));
}

TEST(Ranking, UnsandboxedAndCheckedResultsAreNotRanked) {
  EXPECT_EQ(why_unranked(true, false), "");
  EXPECT_THAT(why_unranked(false, false), HasSubstr("--unsafe-no-sandbox"));
  EXPECT_THAT(why_unranked(true, true), HasSubstr("memory checks"));
}

TEST(Trust, AMeasuredRatioHasItsNoiseFloorAndAModelledOneItsCalibration) {
  EXPECT_EQ(trust_note(Provenance::Measured, "fp8_gemm", "", 0.013), "A/A noise floor 1.3 %");
  EXPECT_EQ(trust_note(Provenance::Measured, "fp8_gemm", "", std::nullopt), "A/A noise floor not taken");
  // A noise floor means nothing for a model, which gives the same time twice.
  const std::string modelled = trust_note(Provenance::Modelled, "fp8_gemm", "mi300x-1.7012c48a", 0.0);
  EXPECT_THAT(modelled, HasSubstr("off by 20 % (median)"));
  EXPECT_THAT(modelled, testing::Not(HasSubstr("noise")));
  EXPECT_THAT(trust_note(Provenance::Modelled, "moe", "mi300x-1.7012c48a", {}), HasSubstr("not calibrated for moe"));
  EXPECT_THAT(trust_note(Provenance::Modelled, "fp8_gemm", "mi300x-9.0", {}), HasSubstr("mi300x-9.0: not validated"));
  EXPECT_THAT(trust_note(Provenance::Modelled, "fp8_gemm", "", {}), HasSubstr("not recorded: not validated"));
  EXPECT_THAT(trust_note(Provenance::Published, "fp8_gemm", "", {}), HasSubstr("not checked here"));
}

TEST(Trust, PairsAgreeTheMoreTheFartherApartTheyAre) {
  EXPECT_EQ(same_order_share(1.0), 0.83);
  EXPECT_EQ(same_order_share(1.3), 0.914);
  EXPECT_EQ(same_order_share(5), 1.0);
  EXPECT_EQ(same_order_share(std::nan("")), 0.5);
}

TEST(Trust, ARatioWithinItsNoiseSaysNothing) {
  EXPECT_TRUE(is_above_noise(1.05, 0.02));
  EXPECT_TRUE(is_above_noise(1 / 1.05, 0.02));
  EXPECT_FALSE(is_above_noise(1.01, 0.02));
  EXPECT_FALSE(is_above_noise(2, std::nullopt));
  EXPECT_FALSE(is_above_noise(std::nan(""), 0.02));
  EXPECT_FALSE(is_above_noise(0, 0.02));
}

}  // namespace
}  // namespace hipbench::results
