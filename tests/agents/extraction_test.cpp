// The corpus in tests/data/extraction: what models say, and the candidate in it.
#include "agents/extract.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>

#include "common/files.hpp"

namespace hipbench::agents {
namespace {

// "=== answer", optional "=== previous", "=== expected HOW"; each part begins on the next line.
struct Case {
  std::string answer, previous, expected, how;
};

Case read_case(const std::filesystem::path& file) {
  const std::string text = read_file(file).value();
  Case made;
  const size_t expected = text.rfind("=== expected");
  const size_t previous = std::min(text.rfind("=== previous\n"), expected);
  const size_t answer = std::string("=== answer\n").size();
  made.answer = text.substr(answer, previous - answer);
  if (previous != expected) made.previous = text.substr(previous + 13, expected - previous - 13);
  const size_t line_end = text.find('\n', expected);
  made.how = text.substr(std::min(expected + 13, line_end), line_end - std::min(expected + 13, line_end));
  made.expected = text.substr(line_end + 1);
  return made;
}

std::vector<std::filesystem::path> corpus() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HIPBENCH_SOURCE_DIR "/tests/data/extraction"))
    files.push_back(entry.path());
  return files;
}

TEST(Extraction, FindsWhatTheCorpusSays) {
  for (const std::filesystem::path& file : corpus()) {
    const Case one = read_case(file);
    const Extraction found = extract_candidate(one.answer, one.previous);
    EXPECT_EQ(found.source, one.expected) << file.filename();
    EXPECT_EQ(found.how, one.how) << file.filename();
    EXPECT_EQ(found.source.empty(), !found.note.empty() && found.note.find("does not end") == std::string::npos)
        << file.filename();
  }
  EXPECT_GT(corpus().size(), 25u);
}

TEST(Extraction, ADamagedAnswerNeverDoesWorseThanNothing) {
  std::minstd_rand random(1);
  for (const std::filesystem::path& file : corpus()) {
    const Case one = read_case(file);
    for (int round = 0; round < 40; ++round) {
      std::string answer = one.answer.substr(0, random() % (one.answer.size() + 1));
      for (int edit = 0; edit < 4 && !answer.empty(); ++edit)
        answer[random() % answer.size()] = "`~{}\n<>\"\xff\\=@-+"[random() % 16];
      extract_candidate(answer, one.previous);
    }
  }
}

TEST(Extraction, HugeAnswersTakeNoHugeTime) {
  for (const char* piece : {"```\n", "`", "{\"a\":", "<<<<<<<\n", "@@ -1 +1 @@\n-a\n+b\n", "&lt;", "<think>", "\n",
                            "[[step]]", "/* hipbench-plan"}) {
    std::string answer;
    while (answer.size() < (size_t{1} << 20)) answer += piece;
    extract_candidate(answer, "a\nb\n");
    extract_candidate("```diff\n" + answer, "a\nb\n");
  }
}

}  // namespace
}  // namespace hipbench::agents
