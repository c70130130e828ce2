#include "common/json.hpp"

#include <gtest/gtest.h>

namespace hipbench {
namespace {

TEST(Json, KeepsTheOrderOfKeysFromTextToText) {
  const std::string text = R"({"z":1,"a":[true,null,-2.5,"x"],"m":{}})";
  EXPECT_EQ(json_text(parse_json(text).value()), text);
  EXPECT_EQ(json_text(parse_json(text).value(), 1),
            "{\n \"z\": 1,\n \"a\": [\n  true,\n  null,\n  -2.5,\n  \"x\"\n ],\n \"m\": {}\n}");
}

TEST(Json, SaysWhereATextIsBroken) {
  EXPECT_NE(parse_json("{\"a\": }").error().message.find("line 1, column 7"), std::string::npos);
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("{} {}"));
  EXPECT_FALSE(parse_json("\"\xff\""));
}

TEST(Json, WritesAnyBytesAsUtf8) { EXPECT_EQ(json_text(Json("a\xff")), "\"a\xef\xbf\xbd\""); }

// Looking up a member of an object with n of them takes n steps, so that reading many would take their square.
TEST(Json, RefusesObjectsWithTooManyMembersAtOnceAndAllowsManyInAll) {
  const auto object = [](int members) {
    std::string text = "{";
    for (int i = 0; i < members; ++i) text += fmt::format("{}\"{}\":0", i == 0 ? "" : ",", i);
    return text + "}";
  };
  EXPECT_TRUE(parse_json(object(1'000)));
  EXPECT_NE(parse_json(object(1'001)).error().message.find("1000 members"), std::string::npos);
  EXPECT_NE(parse_json("[{\"a\":1}," + object(300'000) + "]").error().message.find("1000 members"), std::string::npos);
  EXPECT_TRUE(parse_json("[" + object(600) + "," + object(600) + "]"));
}

TEST(Json, RefusesDeepNestingWhateverItIsMadeOf) {
  const auto nested = [](std::string_view open, std::string_view close, int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += open;
    text += "1";
    for (int i = 0; i < levels; ++i) text += close;
    return text;
  };
  EXPECT_TRUE(parse_json(nested("[", "]", 100)));
  EXPECT_NE(parse_json(nested("[", "]", 101)).error().message.find("100 levels"), std::string::npos);
  EXPECT_FALSE(parse_json(nested("{\"a\":", "}", 101)));
  EXPECT_FALSE(parse_json(nested("[", "]", 1'000'000)));
}

}  // namespace
}  // namespace hipbench
