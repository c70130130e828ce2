#include "evaluator/compile_cache.hpp"

#include <cstdlib>
#include <filesystem>

#include "common/files.hpp"
#include "common/json.hpp"

namespace hipbench {

namespace fs = std::filesystem;

namespace {

fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "hipbench/compiled";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache/hipbench/compiled";
  return {};
}

constexpr const char* kSchema = "hipbench.compiled/1";

}  // namespace

std::optional<Compiled> CompileCache::load(const std::string& key) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return std::nullopt;
  const Result<std::string> text = read_file(folder / (key + ".json"));
  if (!text) return std::nullopt;
  Result<std::string> code = read_file(folder / (key + ".bin"));
  if (!code) return std::nullopt;
  const Result<Json> parsed = parse_json(*text);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const Json& entry = *parsed;
  if (entry.value("schema", "") != kSchema || entry.value("code_sha256", "") != sha256_hex(*code)) return std::nullopt;
  Compiled compiled;
  compiled.code = std::move(*code);
  compiled.warnings = entry.value("warnings", "");
  compiled.symbols = entry.value("symbols", std::map<std::string, std::string>{});
  compiled.seconds = entry.value("seconds", 0.0);
  compiled.from_cache = true;
  return compiled;
}

void CompileCache::store(const std::string& key, const Compiled& compiled) {
  const fs::path folder = cache_folder();
  std::error_code failed;
  if (folder.empty() || (fs::create_directories(folder, failed), failed)) return;
  const Json entry = {{"schema", kSchema},
                      {"code_sha256", sha256_hex(compiled.code)},
                      {"warnings", compiled.warnings},
                      {"symbols", compiled.symbols},
                      {"seconds", compiled.seconds}};
  // The code first: an entry is valid only with its description.
  if (!write_file_atomically(folder / (key + ".bin"), compiled.code)) return;
  static_cast<void>(write_file_atomically(folder / (key + ".json"), json_text(entry, 2)));
}

}  // namespace hipbench
