#pragma once
// For the precompiled headers alone: what most sources do with JSON is instantiated there once instead of in each of
// them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.hpp"

namespace hipbench {

// Never called.
inline std::string instantiate_json(Json json) {
  json = {{"text", std::string()},
          {"view", std::string_view()},
          {"words", "w"},
          {"flag", true},
          {"int", 1},
          {"unsigned", 1u},
          {"signed64", int64_t{}},
          {"unsigned64", uint64_t{}},
          {"number", 1.5},
          {"null", nullptr},
          {"list", Json::array()},
          {"texts", std::vector<std::string>()},
          {"object", Json::object()}};
  json["key"] = "words";
  json[std::string("key")] = json.at("key");
  json["key"] = 1.5;
  json["key"] = true;
  json["key"] = 1;
  json["key"] = int64_t{};
  json["key"] = uint64_t{};
  json["key"] = std::string();
  json.push_back({{"key", "words"}});
  json.push_back(std::string());
  json.push_back(std::move(json["key"]));
  if (json.contains("key") && json.find("key") != json.end() && json == "words") json.value("key", 0);
  for (const Json& item : json) json = item;
  return json.get<std::string>() + json.value("key", "") + (json.get<bool>() ? "" : std::to_string(json.get<double>()));
}

}  // namespace hipbench
