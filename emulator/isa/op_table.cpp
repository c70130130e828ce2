#include "emulator/isa/op_table.hpp"

#include <string>
#include <unordered_map>
#include <vector>

#include "common/result.hpp"

namespace hipbench::emulator {

namespace {

struct Table {
  std::vector<const Op*> rows;
  std::unordered_map<std::string_view, const Op*> by_name;

  Table() {
    for (std::span<const Op> category :
         {salu_ops(), smem_ops(), control_ops(), valu_ops(), valu_half_ops(), valu_integer_ops(), valu_division_ops(),
          valu_transcendental_ops(), valu_compare_ops(), valu_convert_ops(), valu_packed_ops(), valu_cross_lane_ops(),
          mfma_ops(), lds_ops(), global_ops(), buffer_ops()})
      for (const Op& op : category) {
        const bool unique = by_name.emplace(op.name, &op).second;
        CHECK(unique, std::string("two rows for ") + std::string(op.name));
        rows.push_back(&op);
      }
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

const Op* find_op(std::string_view mnemonic) {
  const auto found = table().by_name.find(mnemonic);
  return found == table().by_name.end() ? nullptr : found->second;
}

std::string_view reason_left_out(std::string_view mnemonic) {
  struct LeftOut {
    std::string_view prefix, reason;
  };
  static constexpr LeftOut kLeftOut[] = {
      {"s_rfe_", "privileged: returns from a trap handler"},
      {"s_endpgm_ordered_ps_done", "ends a pixel shader"},
      {"ds_gws_",
       "global wave sync: needs the driver to reserve the unit for a queue; grids synchronise by atomics on this chip"},
  };
  for (const LeftOut& entry : kLeftOut)
    if (mnemonic.starts_with(entry.prefix)) return entry.reason;
  return {};
}

std::span<const Op* const> all_ops() { return table().rows; }

}  // namespace hipbench::emulator
