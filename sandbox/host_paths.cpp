#include "sandbox/host_paths.hpp"

#include <algorithm>
#include <system_error>

namespace hipbench::sandbox {
namespace {

// A path ends where a longer name would begin to be another path: "/in" is not found in "/input".
bool is_end_of_component(char c) { return c == '/' || c == ':' || c == ',' || c == '=' || c == ' ' || c == '"'; }

}  // namespace

Result<HostPaths> HostPaths::on_the_host(const Policy& policy, std::vector<TemporaryDirectory>& folders) {
  folders.push_back(TRY(TemporaryDirectory::create("hipbench-unsafe")));
  const std::filesystem::path root = folders.back().path();
  HostPaths paths;
  std::error_code error;
  std::filesystem::create_directories(root / "tmp", error);
  paths.replacements_.emplace_back("/tmp", (root / "tmp").string());
  for (const Mount& mount : policy.mounts) paths.replacements_.emplace_back(mount.inside.string(), mount.host.string());
  for (const auto& [inside, content] : policy.input_files) {
    const std::filesystem::path host = root / inside.relative_path();
    std::filesystem::create_directories(host.parent_path(), error);
    if (error) return Error{"cannot create " + host.parent_path().string() + ": " + error.message()};
    TRY(write_file_atomically(host, content));
    paths.replacements_.emplace_back(inside.string(), host.string());
    // Their folders too: an argument may name one ("-I /include").
    for (std::filesystem::path folder = inside.parent_path(); folder != folder.root_path();
         folder = folder.parent_path())
      if (folder != "/tmp") paths.replacements_.emplace_back(folder.string(), (root / folder.relative_path()).string());
  }
  std::ranges::sort(paths.replacements_, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  return paths;
}

std::string HostPaths::rewrite(std::string text) const {
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '/') continue;
    for (const auto& [inside, host] : replacements_) {
      const size_t end = at + inside.size();
      if (text.compare(at, inside.size(), inside) != 0 || (end < text.size() && !is_end_of_component(text[end])))
        continue;
      text.replace(at, inside.size(), host);
      at += host.size();
      break;
    }
    // The rest of this path belongs to the same path: skip to its end.
    while (at < text.size() && text[at] != ':' && text[at] != ',' && text[at] != '=' && text[at] != ' ') ++at;
  }
  return text;
}

}  // namespace hipbench::sandbox
