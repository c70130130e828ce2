// How long the host takes for each matrix instruction, on operands with a spread of exponents as real data have.

#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "emulator/isa/float_formats.hpp"
#include "emulator/isa/mfma.hpp"

namespace hipbench::emulator {
namespace {

// A word of normally distributed operands of the type that the mnemonic ends with.
u32 random_word(std::string_view type, std::mt19937& random) {
  std::normal_distribution<f32> normal;
  u32 word = 0;
  if (type == "fp8" || type == "bf8") {
    for (int i = 0; i < 4; ++i)
      word = word << 8 | (type == "fp8" ? f32_to_fp8(normal(random)) : f32_to_bf8(normal(random)));
  } else if (type == "f16") {
    word = f32_to_f16(normal(random)) | u32{f32_to_f16(normal(random))} << 16;
  } else if (type == "bf16") {
    word = f32_to_bf16(normal(random)) | u32{f32_to_bf16(normal(random))} << 16;
  } else if (type == "i8") {
    word = static_cast<u32>(random());
  } else {
    word = std::bit_cast<u32>(normal(random));
  }
  return word;
}

void run(benchmark::State& state, const MfmaEntry& entry) {
  std::mt19937 random(1);
  const std::string_view type = entry.mnemonic.substr(entry.mnemonic.rfind('_') + 1);
  const auto fill = [&](int registers, std::string_view of) {
    std::vector<u32> words(static_cast<std::size_t>(registers) * kWaveSize);
    for (u32& word : words) word = random_word(of, random);
    return words;
  };
  const bool mixed = entry.mnemonic.ends_with("bf8_fp8") || entry.mnemonic.ends_with("fp8_bf8");
  const std::vector<u32> a =
      fill(entry.a_registers, mixed ? entry.mnemonic.substr(entry.mnemonic.size() - 7, 3) : type);
  const std::vector<u32> b = fill(entry.b_registers, type);
  const std::vector<u32> c = fill(entry.c_registers, "f32");
  std::vector<u32> d = fill(entry.d_registers, "f32");
  for (auto _ : state) {
    entry.execute(d.data(), a.data(), b.data(), c.data(), {});
    benchmark::ClobberMemory();
  }
  state.counters["GMAC/s"] =
      benchmark::Counter(static_cast<double>(entry.flops) / 2e9, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace
}  // namespace hipbench::emulator

int main(int argc, char** argv) {
  using namespace hipbench::emulator;
  for (const MfmaEntry& entry : mfma_table()) {
    benchmark::RegisterBenchmark(std::string(entry.mnemonic).c_str(),
                                 [&entry](benchmark::State& state) { run(state, entry); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
