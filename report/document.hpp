#pragma once
// What the HTML page shows, as one JSON document (docs/report-page.md), and the packs with its long texts.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "common/result.hpp"
#include "evaluator/evaluation.hpp"
#include "results/standings.hpp"

namespace hipbench::report {

struct DocumentOptions {
  std::string problem;  // only this one; empty: all
  // hipbench.evaluation/1, of which the page shows what there is. From whoever calls: the form belongs to the command
  // line.
  std::function<std::string(const Evaluation& evaluation, int64_t id)> evaluation_json;
  // Which sources speed-ups are relative to; default: the references that this program was built with.
  std::function<results::ReferenceHashes(const std::string& problem)> references;
  std::string generated_at;  // UTC, ISO 8601
  std::string revision;      // of a page that asks a server for a newer one; empty: it does not
  // Of the details and of the sources in the page; what has no room is left out, the best and the newest last.
  size_t details_bytes = size_t{5} << 20, source_bytes = size_t{6} << 20;
};

struct Document {
  std::string json;  // UTF-8, without "<"
  std::vector<std::string> packs;
};

Result<Document> make_document(const std::filesystem::path& database, const DocumentOptions& options);

}  // namespace hipbench::report
