#include <fmt/format.h>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include "emulator/timing/launch_model.hpp"
#include "emulator/timing/validation/run_points.hpp"
using namespace hipbench::emulator;
int main(int argc, char** argv) {
  TimingParameters p = mi300x_timing();
  for (int i = 3; i < argc; ++i) {
    std::string s = argv[i];
    auto eq = s.find('=');
    auto r = p.set(s.substr(0, eq), std::atof(s.c_str() + eq + 1));
    if (!r) {
      fmt::print(stderr, "{}\n", r.error().message);
      return 2;
    }
  }
  std::ifstream in(argv[1]);
  std::string line;
  auto runner = PointRunner::create(p);
  if (!runner) return 3;
  while (std::getline(in, line)) {
    std::vector<std::string> f;
    std::stringstream ss(line);
    std::string x;
    while (std::getline(ss, x, ',')) f.push_back(x);
    MeasuredPoint pt;
    auto u = [&](size_t i) { return static_cast<u32>(std::atoi(f[i].c_str())); };
    pt.m = u(0);
    pt.n = u(1);
    pt.k = u(2);
    pt.block_m = u(3);
    pt.block_n = u(4);
    pt.threads = u(11);
    for (size_t i = 3; i < 12; ++i) pt.variant += (i > 3 ? "_" : "") + f[i];
    auto t0 = std::chrono::steady_clock::now();
    auto r = runner->run(std::string(argv[2]) + "/" + pt.variant + ".co", pt);
    double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    if (!r) {
      fmt::print(stderr, "{}: {}\n", line, r.error().message);
      continue;
    }
    const auto& mod = *r->modelled;
    const auto& x_ = mod.xcd;
    std::array<f64, kStallCauses> st{};
    u64 ex = 0;
    for (auto& o : x_.stalls) {
      ex += o.executed;
      for (u32 c = 0; c < kStallCauses; ++c) st[c] += static_cast<f64>(o.clocks[c]);
    }
    fmt::print("{},{:.2f},{:.2f},{},{},{},{},{:.2f},{}", line, mod.seconds * 1e6, mod.kernel_seconds * 1e6,
               mod.traced_workgroups, mod.xcd_workgroups, r->occupancy_workgroups_per_cu, x_.cus, host, ex);
    const f64 units = x_.clocks * x_.cus;
    fmt::print(",{:.3f},{:.3f},{:.3f},{:.3f}", x_.mfma_busy / units / 4, x_.valu_busy / units / 4, x_.lds_busy / units,
               x_.vector_memory_busy / units);
    for (f64 s : st) fmt::print(",{:.3f}", s / x_.wave_clocks);
    fmt::print(",{:.3f},{:.3f}\n", static_cast<f64>(x_.memory.l1_hits) / static_cast<f64>(x_.memory.l1_lines + 1),
               static_cast<f64>(x_.memory.l2_hits) / static_cast<f64>(x_.memory.l2_lines + 1));
    std::fflush(stdout);
  }
}
