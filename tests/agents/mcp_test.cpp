// hipbench mcp as a client's pipe sees it. mcp_client_test.sh has one that others wrote.
#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/files.hpp"
#include "common/subprocess.hpp"
#include "common/toolchain.hpp"

namespace hipbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class Mcp : public testing::Test {
 protected:
  // The answers by their ids; those without one under "null".
  std::map<std::string, json> talk(const std::vector<std::string>& lines, const std::string& options = "") {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    EXPECT_TRUE(write_file_atomically(folder_.path() / "in", text));
    const std::string folder = folder_.path().string();
    const ProcessResult run =
        run_process({"sh", "-c",
                     HIPBENCH_BINARY_DIR "/hipbench mcp --db " + folder + "/m.db " + options + " < " + folder + "/in"})
            .value();
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    std::map<std::string, json> answers;
    std::istringstream output(run.output);
    for (std::string line; std::getline(output, line);) {
      const json answer = json::parse(line);
      if (answer.contains("id")) answers[answer["id"].dump()] = answer;
    }
    return answers;
  }
  static std::string call(int id, const std::string& name, json arguments) {
    return json{{"jsonrpc", "2.0"},
                {"id", id},
                {"method", "tools/call"},
                {"params", {{"name", name}, {"arguments", std::move(arguments)}}}}
        .dump();
  }
  static std::string text_of(const json& answer) { return answer.at("result").at("content").at(0).at("text"); }

  TemporaryDirectory folder_ = TemporaryDirectory::create("mcp_test").value();
};

TEST_F(Mcp, SpeaksTheProtocolAndSurvivesWhatIsNotIt) {
  auto answers = talk(
      {R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})",
       R"({"jsonrpc":"2.0","method":"notifications/initialized"})", R"({"jsonrpc":"2.0","id":"two","method":"ping"})",
       R"({"jsonrpc":"2.0","id":3,"method":"tools/list"})", R"({"jsonrpc":"2.0","id":4,"method":"resources/list"})",
       R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":7})",
       R"({"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"1999"}})", "not json", "[]", "",
       std::string(5 << 20, 'x'),
       R"({"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"evaluate","arguments":[1]}})",
       R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})"});
  EXPECT_EQ(answers["1"]["result"]["protocolVersion"], "2025-03-26");
  EXPECT_EQ(answers["6"]["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(answers["\"two\""]["result"], json::object());
  std::vector<std::string> names;
  for (const json& tool : answers["3"]["result"]["tools"]) {
    names.push_back(tool["name"]);
    EXPECT_EQ(tool["inputSchema"]["type"], "object");
  }
  EXPECT_THAT(names, testing::ElementsAre("problem", "evaluate", "check", "profile", "submit", "history"));
  EXPECT_EQ(answers["4"]["error"]["code"], -32601);
  EXPECT_EQ(answers["5"]["error"]["code"], -32602);
  EXPECT_EQ(answers["8"]["result"]["isError"], true);
  EXPECT_TRUE(answers.contains("null"));
}

TEST_F(Mcp, ToolsWorkWithinTheirLimitsAndServeNoReference) {
  ::setenv("XDG_CACHE_HOME", HIPBENCH_BINARY_DIR "/tests/cache", 1);
  if (const Result<Toolchain> toolchain = Toolchain::locate(); !toolchain) GTEST_SKIP() << toolchain.error().message;
  const std::string source = read_file(HIPBENCH_SOURCE_DIR "/problems/identity/starter_kernel.hip").value();
  const json small = {{"problem", "identity"}, {"source", source}, {"shapes", {"rows=1,columns=3"}}};
  auto answers =
      talk({call(1, "problem", {{"problem", "identity"}}), call(2, "evaluate", small), call(3, "check", small),
            call(4, "profile", {{"problem", "identity"}, {"source", source}, {"shape", "rows=1,columns=3"}}),
            call(5, "evaluate", {{"problem", "identity"}, {"source", "int x"}}),
            call(6, "evaluate", {{"problem", "fp8_gemm"}, {"source", source}}),
            call(7, "evaluate", {{"problem", "identity"}, {"source", std::string(300000, ' ')}}),
            call(8, "submit", {{"problem", "identity"}, {"source", source}}), call(9, "evaluate", small),
            call(10, "history", json::object())},
           "-p identity --max-evaluations 5 --submit-shapes rows=1,columns=3");
  EXPECT_THAT(text_of(answers["1"]), HasSubstr("hb_identity"));
  EXPECT_THAT(
      text_of(answers["1"]),
      Not(HasSubstr(
          read_file(HIPBENCH_SOURCE_DIR "/problems/identity/candidates/vector_kernel.hip").value().substr(0, 40))));
  EXPECT_THAT(text_of(answers["2"]), HasSubstr("It passed"));
  EXPECT_THAT(text_of(answers["3"]), HasSubstr("It passed"));
  EXPECT_THAT(text_of(answers["4"]), HasSubstr("workgroups"));
  EXPECT_THAT(text_of(answers["5"]), HasSubstr("compile_error"));
  EXPECT_THAT(text_of(answers["6"]), HasSubstr("this session is for the problems: identity"));
  EXPECT_THAT(text_of(answers["7"]), HasSubstr("256 KiB"));
  EXPECT_THAT(text_of(answers["8"]), HasSubstr("It passed"));
  EXPECT_THAT(text_of(answers["9"]), HasSubstr("5 evaluations are used up"));
  EXPECT_EQ(json::parse(text_of(answers["10"])).size(), 5u);
}

}  // namespace
}  // namespace hipbench
