#include "common/json.hpp"

#include <fmt/format.h>

#include <vector>

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace hipbench {

namespace {

constexpr size_t kMostMembers = 1'000;
constexpr int kMostLevels = 100;

// What the parser asks about each thing it meets: is it to be kept?
class Limits {
 public:
  bool keeps(int level, Json::parse_event_t event) {
    if (!broken_.empty()) return false;
    switch (event) {
      case Json::parse_event_t::object_start:
        members_.push_back(0);
        [[fallthrough]];
      case Json::parse_event_t::array_start:
        if (level >= kMostLevels) broken_ = fmt::format("more than {} levels", kMostLevels);
        break;
      case Json::parse_event_t::object_end:
        members_.pop_back();
        break;
      case Json::parse_event_t::key:
        if (++members_.back() > kMostMembers)
          broken_ = fmt::format("an object with more than {} members", kMostMembers);
        break;
      default:
        break;
    }
    return broken_.empty();
  }

  const std::string& broken() const { return broken_; }

 private:
  std::vector<size_t> members_;  // of each object that is open
  std::string broken_;
};

}  // namespace

Result<Json> parse_json(std::string_view text) {
  Limits limits;
  try {
    Json json =
        Json::parse(text, [&](int level, Json::parse_event_t event, Json&) { return limits.keeps(level, event); });
    if (!limits.broken().empty()) return Error{limits.broken()};
    return json;
  } catch (const Json::exception& failure) {
    const std::string_view what = failure.what();
    return Error{
        std::string(what.substr(std::min(what.size(), what.find("] ") + 2)))};  // after the library's own number
  }
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hipbench
