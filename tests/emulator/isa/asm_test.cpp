// Runs the assembler cases of tests/data/isa on one wave, without a device: assemble, decode, execute, compare.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "emulator/isa/program.hpp"
#include "emulator/isa/wave.hpp"
#include "tests/emulator/isa/asm_case.hpp"
#include "tests/emulator/isa/assembler.hpp"

namespace hipbench::emulator {
namespace {

constexpr u32 kMemoryDwords = 1024, kScratchBytesPerLane = 256, kMaxInstructions = 100'000;
constexpr u32 kUnset = 0xbad00bad;
const std::string kDataFolder = std::string(HIPBENCH_SOURCE_DIR) + "/tests/data/isa";

// The padding ends up behind the snippet's labels, so that a branch to its end is fine.
std::string with_padding(const std::string& snippet) { return "s_nop 4\n" + snippet + "s_nop 4\ns_endpgm\n"; }

class Machine {
 public:
  Machine()
      : space_(AddressSpace::create().value()), memory_(*space_->allocate(kMemoryDwords * 4, "mem")), wave(*space_) {
    std::fill(registers_.begin(), registers_.end(), kUnset);
    std::fill_n(wave.sgprs, 102, kUnset);
    wave.vgprs = registers_.data();
    wave.lds = reinterpret_cast<std::byte*>(lds_.data());
    wave.lds_size = kMemoryDwords * 4;
    wave.scratch = scratch_.data();
    wave.scratch_size = kScratchBytesPerLane;
    wave.set_exec(~u64{0});
    wave.set_vcc(0);
    wave.set_scalar64(8, memory_);
    wave.set_scalar64(12, memory_);
    wave.sgprs[14] = kMemoryDwords * 4;
    wave.sgprs[15] = 0x00020000;
  }

  // False, with a failure recorded, when the snippet does not run to its end, or to the fault it shall end in.
  bool run(const AsmCase& test) {
    std::string error;
    code_ = assemble(with_padding(test.snippet), error);
    if (!error.empty()) return failed(error);
    Program program({{0x10000, code_}});
    wave.program = &program;
    wave.jump(0x10000);
    wave.spin_budget = 1'000'000;
    for (u32 executed = 0; wave.status != WaveStatus::Ended; ++executed) {
      if (executed == kMaxInstructions) return failed("the snippet does not end");
      if (wave.next == nullptr) wave.next = program.at(wave.pc);
      const Inst& inst = *wave.next;
      wave.pc = inst.pc + inst.size;
      wave.next = inst.following;
      ++wave.counts[static_cast<u32>(inst.cls)];
      try {
        if ((wave.mode & kModeUnusualIssue) != 0) execute_unusually(wave, inst);
        else inst.execute(wave, inst);
      } catch (const GuestFault& fault) {
        if (!test.fault.empty() && fault.message.find(test.fault) != std::string::npos) return true;
        return failed(program.disassemble(inst.pc) + ": " + fault.message);
      }
      if (wave.status != WaveStatus::Ended) wave.status = WaveStatus::Running;
    }
    return test.fault.empty() || failed("the snippet ends without the fault '" + test.fault + "'");
  }

  void set(const AsmAssignment& assignment) {
    for_each_value(assignment, [](u32* low, u32* high, const AsmValue& value, u32) {
      *low = static_cast<u32>(value.bits);
      if (high != nullptr) *high = static_cast<u32>(value.bits >> 32);
    });
    if (assignment.target == "scc") wave.scc = scc_ != 0;
  }
  void expect(const AsmAssignment& assignment) {
    scc_ = wave.scc;
    u32 reported = 0;
    for_each_value(assignment, [&](u32* low, u32* high, const AsmValue& value, u32 index) {
      const u64 actual = *low | (high != nullptr ? u64{*high} << 32 : 0);
      if (value.accepts(actual, high != nullptr ? 64 : 32) || reported++ >= 4) return;
      ADD_FAILURE() << assignment.target << " at " << index << " is 0x" << std::hex << actual << ", expected 0x"
                    << value.bits << std::dec << " of '" << assignment.value << "'";
    });
  }

 private:
  static bool failed(const std::string& why) {
    ADD_FAILURE() << why;
    return false;
  }

  // Calls use(low, high or null, value, lane or dword index) for everything that the assignment names.
  template <typename Use>
  void for_each_value(const AsmAssignment& assignment, Use use) {
    const std::string& target = assignment.target;
    u32* base = nullptr;
    u32 count = 1, stride = 1, high_distance = 0;
    bool repeat = true;  // the list is repeated over all lanes
    const bool memory = target.starts_with("mem"), lds = target.starts_with("lds");
    if (memory || lds) {
      base = memory ? reinterpret_cast<u32*>(*space_->host_range(memory_, kMemoryDwords * 4)) : lds_.data();
      count = kMemoryDwords;
      if (target.size() > 3) {
        base += std::stoul(target.substr(4)) / 4;
        repeat = false;
      }
    } else if (target == "exec" || target == "vcc") {
      base = wave.sgprs + (target == "vcc" ? kVcc : kExec);
      high_distance = 1;
    } else if (target == "m0") {
      base = wave.sgprs + kM0;
    } else if (target == "scc") {
      base = &scc_;
    } else {
      const bool pair = target[1] == '[';
      const u32 index = static_cast<u32>(std::stoul(target.substr(pair ? 2 : 1)));
      const bool scalar = target[0] == 's';
      base = scalar ? wave.sgprs + index : wave.vgpr(index + (target[0] == 'a' ? kAgprBase : 0));
      count = scalar ? 1 : kWaveSize;
      high_distance = pair ? (scalar ? 1 : kWaveSize) : 0;
    }
    const u32 width = high_distance != 0 ? 64 : 32;
    std::vector<AsmValue> values;
    if (!assignment.formula) values = parse_asm_list(assignment.value, width);
    if (!assignment.formula && !repeat) count = static_cast<u32>(values.size());
    for (u32 index = 0; index < count; ++index) {
      u32* low = base + size_t{index} * stride;
      AsmValue value;
      if (assignment.formula) {
        value.bits = static_cast<u64>(evaluate_asm_formula(assignment.value, index));
        if (width == 32) value.bits &= 0xffffffff;
      } else {
        value = values[index % values.size()];
      }
      use(low, high_distance != 0 ? low + high_distance : nullptr, value, index);
    }
  }

  std::unique_ptr<AddressSpace> space_;
  u64 memory_;
  std::vector<u32> registers_ = std::vector<u32>(size_t{kVgprs} * kWaveSize);
  std::vector<u32> lds_ = std::vector<u32>(kMemoryDwords);
  std::vector<std::byte> scratch_ = std::vector<std::byte>(size_t{kScratchBytesPerLane} * kWaveSize);
  std::vector<std::byte> code_;
  u32 scc_ = 0;

 public:
  Wave wave;
};

std::vector<std::string> data_files() {
  std::vector<std::string> stems;
  for (const auto& entry : std::filesystem::directory_iterator(kDataFolder))
    if (entry.path().extension() == ".s") stems.push_back(entry.path().stem().string());
  std::sort(stems.begin(), stems.end());
  return stems;
}

class AsmCases : public testing::TestWithParam<std::string> {};

TEST_P(AsmCases, EndInTheExpectedState) {
  for (const AsmCase& test : read_asm_cases(kDataFolder + "/" + GetParam() + ".s")) {
    SCOPED_TRACE(test.name);
    Machine machine;
    for (const AsmAssignment& assignment : test.before) machine.set(assignment);
    if (!machine.run(test)) continue;
    for (const AsmAssignment& assignment : test.after) machine.expect(assignment);
  }
}

INSTANTIATE_TEST_SUITE_P(Isa, AsmCases, testing::ValuesIn(data_files()), [](const auto& info) { return info.param; });

// The matrix instructions have tests of their own (mfma_row_test.cpp): their operands are too large to write down.
TEST(AsmCaseFiles, HaveACaseForEveryRow) {
  std::set<std::string> untested;
  for (const Op* op : all_ops())
    if (op->cls != InstClass::Mfma) untested.emplace(op->name);
  Disassembler disassembler;
  for (const std::string& stem : data_files())
    for (const AsmCase& test : read_asm_cases(kDataFolder + "/" + stem + ".s")) {
      std::string error;
      const std::vector<std::byte> code = assemble(with_padding(test.snippet), error);
      for (size_t at = 0; at < code.size();) {
        const Disassembler::Name name = disassembler.name(std::span(code).subspan(at), at);
        untested.erase(name.mnemonic);
        at += std::max(name.size, 4u);
      }
    }
  EXPECT_THAT(untested, testing::IsEmpty());
}

}  // namespace
}  // namespace hipbench::emulator
