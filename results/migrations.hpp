#pragma once
#include <span>
#include <string_view>

namespace hipbench::results {

// The schema as steps: migrations()[i] takes a database from version i to i + 1 (PRAGMA user_version). A step that has
// been released is never edited; changes are new steps at the end.
std::span<const std::string_view> migrations();

// In the file's header (PRAGMA application_id), so that another program's database is never taken for ours: "hipb".
inline constexpr int kApplicationId = 0x68697062;

}  // namespace hipbench::results
