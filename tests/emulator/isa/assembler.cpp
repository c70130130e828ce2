#include "tests/emulator/isa/assembler.hpp"

#include <elf.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <cstring>
#include <functional>
#include <set>

#include "emulator/isa/decode.hpp"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUAsmParser();
}

namespace hipbench::emulator {

namespace {

constexpr const char* kTriple = "amdgcn-amd-amdhsa";
constexpr const char* kCpu = "gfx942";

std::vector<std::byte> text_section(llvm::ArrayRef<char> object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), object.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  const char* names = object.data() + sections[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr& section : sections)
    if (std::strcmp(names + section.sh_name, ".text") == 0) {
      std::vector<std::byte> code(section.sh_size);
      std::memcpy(code.data(), object.data() + section.sh_offset, code.size());
      return code;
    }
  return {};
}

const llvm::Target& target() {
  static const llvm::Target* const found = [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmParser();
    std::string error;
    const llvm::Target* amdgpu = llvm::TargetRegistry::lookupTarget(kTriple, error);
    CHECK(amdgpu != nullptr, error);
    return amdgpu;
  }();
  return *found;
}

using Diagnose = std::function<void(const llvm::SMDiagnostic&)>;

// The bytes of the text's .text section; what is wrong goes to `diagnose`. Empty if it says so or LLVM gives up.
std::vector<std::byte> parse(const std::string& text, const Diagnose& diagnose) {
  const llvm::Triple triple(kTriple);
  const llvm::MCTargetOptions options;
  const std::unique_ptr<llvm::MCRegisterInfo> registers(target().createMCRegInfo(kTriple));
  const std::unique_ptr<llvm::MCAsmInfo> asm_info(target().createMCAsmInfo(*registers, kTriple, options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(target().createMCInstrInfo());
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(target().createMCSubtargetInfo(kTriple, kCpu, ""));
  llvm::SourceMgr sources;
  sources.setDiagHandler([](const llvm::SMDiagnostic& diagnostic,
                            void* context) { (*static_cast<const Diagnose*>(context))(diagnostic); },
                         const_cast<Diagnose*>(&diagnose));
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text), llvm::SMLoc());
  llvm::MCContext context(triple, asm_info.get(), registers.get(), subtarget.get(), &sources);
  const std::unique_ptr<llvm::MCObjectFileInfo> object_info(target().createMCObjectFileInfo(context, false));
  context.setObjectFileInfo(object_info.get());
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(target().createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(stream);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(target().createMCCodeEmitter(*instructions, context));
  const std::unique_ptr<llvm::MCStreamer> streamer(target().createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  const std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(sources, context, *streamer, *asm_info));
  const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      target().createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  if (parser->Run(false)) return {};
  return text_section(object);
}

// Every mnemonic of LLVM's instruction tables, of all AMD GPUs.
std::set<std::string> all_mnemonics() {
  const std::unique_ptr<llvm::MCRegisterInfo> registers(target().createMCRegInfo(kTriple));
  const std::unique_ptr<llvm::MCAsmInfo> asm_info(
      target().createMCAsmInfo(*registers, kTriple, llvm::MCTargetOptions{}));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(target().createMCInstrInfo());
  const std::unique_ptr<llvm::MCInstPrinter> printer(
      target().createMCInstPrinter(llvm::Triple(kTriple), 0, *asm_info, *instructions, *registers));
  std::set<std::string> mnemonics;
  for (u32 opcode = 0; opcode < instructions->getNumOpcodes(); ++opcode) {
    if (instructions->get(opcode).isPseudo()) continue;
    llvm::MCInst inst;
    inst.setOpcode(opcode);
    const char* text = printer->getMnemonic(&inst).first;
    const std::string_view mnemonic = text != nullptr ? text : "";
    if (!mnemonic.empty()) mnemonics.emplace(mnemonic.substr(0, mnemonic.find_first_of(" \t")));
  }
  mnemonics.erase("");
  return mnemonics;
}

}  // namespace

std::vector<std::byte> assemble(const std::string& text, std::string& error) {
  std::vector<std::byte> code = parse(text, [&](const llvm::SMDiagnostic& diagnostic) {
    error += diagnostic.getMessage().str() + " in '" + diagnostic.getLineContents().str() + "'\n";
  });
  if (code.empty() && error.empty()) error = "LLVM could not assemble the text";
  if (!error.empty()) code.clear();
  return code;
}

std::vector<std::string> assembler_mnemonics() {
  std::string text;
  std::vector<std::string> lines;
  for (const std::string& mnemonic : all_mnemonics()) {
    lines.push_back(mnemonic);
    text += mnemonic + "\n";
  }
  std::set<size_t> refused;
  parse(text, [&](const llvm::SMDiagnostic& diagnostic) {
    const llvm::StringRef message = diagnostic.getMessage();
    if (message.contains("not supported") || message.contains("invalid instruction"))
      refused.insert(static_cast<size_t>(diagnostic.getLineNo()) - 1);
  });
  std::set<std::string> accepted;
  for (size_t line = 0; line < lines.size(); ++line)
    if (!refused.contains(line)) accepted.emplace(strip_encoding_suffix(lines[line]));
  return {accepted.begin(), accepted.end()};
}

}  // namespace hipbench::emulator
