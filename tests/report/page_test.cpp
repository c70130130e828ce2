// The page as text: that it holds what it should, and nothing of it can run or escape.
#include "report/page.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/files.hpp"
#include "report/packs.hpp"
#include "tests/report/synthetic_database.hpp"

namespace hipbench::report {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Base64, AgreesWithTheVectorsOfItsStandard) {  // RFC 4648, section 10
  for (const auto& [text, encoded] : std::map<std::string, std::string>{{"", ""},
                                                                        {"f", "Zg=="},
                                                                        {"fo", "Zm8="},
                                                                        {"foo", "Zm9v"},
                                                                        {"foob", "Zm9vYg=="},
                                                                        {"fooba", "Zm9vYmE="},
                                                                        {"foobar", "Zm9vYmFy"},
                                                                        {"\xff\xfe\xfd", "//79"}})
    EXPECT_EQ(base64(text), encoded);
}

TEST(JsonString, GivesTheSameTextBackAndHoldsNoAngleBracket) {
  std::string every_byte;
  for (int byte = 0; byte < 128; ++byte) every_byte += static_cast<char>(byte);
  for (const std::string& text : {std::string(kHostile), every_byte,
                                  std::string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x99\x82"), std::string()}) {
    const std::string json = json_string(text);
    EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), text);
    EXPECT_THAT(json, Not(HasSubstr("<")));
  }
}

TEST(JsonString, ReplacesWhatIsNotUtf8) {
  for (const char* bytes : {"\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82",
                            "\xff", "\xe0\x80\x80", "\xf0\x80\x80\x80"}) {
    const std::string text = nlohmann::json::parse(json_string(std::string("a") + bytes + "b")).get<std::string>();
    EXPECT_THAT(text, HasSubstr("\xef\xbf\xbd"));
    EXPECT_EQ(text.front(), 'a');
    EXPECT_EQ(text.back(), 'b');
  }
}

TEST(Packs, LeaveOutWhatHasNoRoom) {
  Packs packs(100);
  EXPECT_EQ(packs.add("a", "\"short\""), 0u);
  EXPECT_EQ(packs.add("b", json_string(std::string(1 << 20, 'x'))), std::nullopt);
  packs.finish_pack();
  ASSERT_EQ(packs.packs().size(), 1u);
  Packs none(0);
  EXPECT_EQ(none.add("a", "1"), std::nullopt);
  none.finish_pack();
  EXPECT_TRUE(none.packs().empty());
}

class PageTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_.emplace(TemporaryDirectory::create("page_test").value());
    ASSERT_TRUE(make_synthetic_database(database(), 45));
    DocumentOptions options;
    options.generated_at = "2026-01-02T03:04:05Z";
    options.references = synthetic_references;
    options.evaluation_json = [](const Evaluation& e, int64_t id) {
      return fmt::format("{{\"id\":{},\"evidence\":{}}}", id, json_string(e.verdict.evidence));
    };
    Result<Document> document = make_document(database(), options);
    ASSERT_TRUE(document) << document.error().message;
    document_ = std::move(document).value();
    page_ = make_page(document_, false);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  static std::filesystem::path database() { return folder_->path() / "results.db"; }

  static std::optional<TemporaryDirectory> folder_;
  static Document document_;
  static Page page_;
};
std::optional<TemporaryDirectory> PageTest::folder_;
Document PageTest::document_;
Page PageTest::page_;

size_t count_of(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST_F(PageTest, HoldsEveryEvaluationAndEveryTable) {
  const nlohmann::json json = nlohmann::json::parse(document_.json);
  EXPECT_EQ(json["schema"], "hipbench.page/1");
  EXPECT_EQ(json["evaluations"]["id"].size(), 45u + 6);
  ASSERT_EQ(json["tables"].size(), 3u);
  for (const nlohmann::json& table : json["tables"]) {
    EXPECT_EQ(table["runs"].size(), 3u);
    EXPECT_EQ(table["provenance"], "modelled");
    EXPECT_GT(table["baseline_us"][0], table["expert_us"][0]);
    EXPECT_EQ(table["entry_shape_us"].size(), table["entries"]["us"].size() * table["shapes"].size());
    EXPECT_EQ(table["runs"][0]["draws"][0][0], 1);
    EXPECT_EQ(table["runs"][0]["curve"]["share"].size(), json["thresholds"].size());
  }
  ASSERT_EQ(json["published"].size(), 1u);
  EXPECT_EQ(json["published"][0]["us"], 12.5);
  // All columns of a list are equally long.
  for (const auto& [name, column] : json["evaluations"].items()) EXPECT_EQ(column.size(), 51u) << name;
}

TEST_F(PageTest, HostileTextsCannotLeaveTheirPlace) {
  EXPECT_THAT(document_.json, Not(HasSubstr("<")));
  EXPECT_THAT(document_.json, HasSubstr("INJECTED"));
  for (const std::string& pack : document_.packs) EXPECT_THAT(pack, Not(ContainsRegex("[^A-Za-z0-9+/=]")));
  // What opens a script is ours: the document, the packs, the page's own, and those of the libraries.
  const size_t scripts = has_charts() ? 3 : 1;
  EXPECT_EQ(count_of(page_.html, "<script>"), scripts);
  EXPECT_EQ(count_of(page_.html, "</script"), scripts + 1 + document_.packs.size());
  EXPECT_THAT(page_.html, Not(HasSubstr("<img")));
  EXPECT_THAT(page_.html, Not(HasSubstr("<!--")));
}

TEST_F(PageTest, ItsPolicyAllowsItsOwnScriptsAndNothingElse) {
  EXPECT_THAT(page_.content_security_policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page_.content_security_policy, HasSubstr("connect-src 'none'"));
  EXPECT_THAT(page_.content_security_policy, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page_.html, HasSubstr("content=\"" + page_.content_security_policy + "\""));
  size_t checked = 0;
  for (size_t at = page_.html.find("<script>"); at != std::string::npos; at = page_.html.find("<script>", at + 1)) {
    const size_t from = at + 8, end = page_.html.find("</script>", from);
    std::string bytes;
    const std::string hex = sha256_hex(std::string_view(page_.html).substr(from, end - from));
    for (size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    EXPECT_THAT(page_.content_security_policy, HasSubstr("'sha256-" + base64(bytes) + "'"));
    ++checked;
  }
  EXPECT_EQ(checked, has_charts() ? 3u : 1u);
}

TEST_F(PageTest, LoadsNothingFromElsewhere) {
  std::string own = page_.html;
  for (size_t at; (at = own.find("<script>")) != std::string::npos;) own.erase(at, own.find("</script>", at) - at);
  EXPECT_THAT(own, Not(ContainsRegex("(src|href)=\"(https?:)?//")));
  EXPECT_THAT(own, Not(HasSubstr("@import")));
  EXPECT_THAT(own, Not(HasSubstr("url(")));
  EXPECT_THAT(page_.html, Not(HasSubstr("{{document}}")));
}

TEST_F(PageTest, KeepsTheBestSourcesWhereThereIsNoRoomForAll) {
  DocumentOptions options;
  options.source_bytes = 3000;
  options.references = synthetic_references;
  options.evaluation_json = [](const Evaluation&, int64_t) { return std::string("{}"); };
  const Document small = make_document(database(), options).value();
  const nlohmann::json json = nlohmann::json::parse(small.json);
  const std::vector<int64_t> ids = json["evaluations"]["id"];
  const int64_t best = json["tables"][0]["entries"]["evaluation"][0];
  const auto at = static_cast<size_t>(std::find(ids.begin(), ids.end(), best) - ids.begin());
  EXPECT_FALSE(json["evaluations"]["source_pack"][at].is_null());
  EXPECT_TRUE(json["evaluations"]["source_pack"].back().is_null());
}

TEST_F(PageTest, OfAnUnreadableDatabaseIsAnError) {
  DocumentOptions options;
  EXPECT_FALSE(make_document(folder_->path() / "none.db", options));
  ASSERT_TRUE(write_file_atomically(folder_->path() / "text.db", "no database"));
  EXPECT_FALSE(make_document(folder_->path() / "text.db", options));
}

}  // namespace
}  // namespace hipbench::report
