#pragma once
// The decoded form of one loaded code object under one set of rules. Decodes a basic block when it is first reached
// and keeps it. Thread-safe: waves on all threads share it.

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "emulator/isa/code_rules.hpp"
#include "emulator/isa/decode.hpp"
#include "emulator/isa/inst.hpp"

namespace hipbench::emulator {

class Program {
 public:
  // `code` is an executable range as loaded, which starts at guest address `base`. It must outlive the Program.
  struct Range {
    u64 base;
    std::span<const std::byte> code;
  };
  // An instruction that breaks the rules faults when it is executed.
  explicit Program(std::vector<Range> ranges, const CodeRules& rules = {});
  ~Program();

  // The instruction at a guest address. Throws GuestFault when it is not code.
  const Inst* at(u64 pc) {
    for (Table& table : tables_) {
      const u64 offset = pc - table.base;
      if (offset < table.size && (offset & 3) == 0) [[likely]] {
        const Inst* inst = table.slots[offset / 4].load(std::memory_order_acquire);
        return inst != nullptr ? inst : decode_block(table, pc);
      }
    }
    not_code(pc);
  }

  // The text of the instruction at pc, for reports.
  std::string disassemble(u64 pc);

  // Mnemonics in the code that have no row, each with the address of its first use. Found without executing.
  struct Unsupported {
    std::string mnemonic;
    u64 pc;
  };
  std::vector<Unsupported> unsupported();
  // All mnemonics in the code, each with the address of its first use. Found without executing.
  std::map<std::string, u64> mnemonics();

 private:
  struct Table {
    u64 base = 0;
    u64 size = 0;
    std::span<const std::byte> code;
    std::unique_ptr<std::atomic<const Inst*>[]> slots;
  };
  const Inst* decode_block(Table& table, u64 pc);
  [[noreturn]] static void not_code(u64 pc);

  const CodeRules rules_;
  std::vector<Table> tables_;
  std::mutex mutex_;
  Disassembler disassembler_;
  std::vector<std::unique_ptr<Inst>> instructions_;
};

}  // namespace hipbench::emulator
