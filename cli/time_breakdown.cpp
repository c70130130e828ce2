#include "cli/time_breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/occupancy.hpp"
#include "cli/text.hpp"
#include "common/json.hpp"
#include "emulator/timing/parameters.hpp"
#include "evaluator/time_advice.hpp"

namespace hipbench::cli {

namespace {

using emulator::kTimeCauseNames;
using emulator::kTimeCauses;
using emulator::TimeBreakdown;
using emulator::TimeCause;

std::string_view name_of(TimeCause cause) { return kTimeCauseNames[static_cast<size_t>(cause)]; }

std::string xml_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<')
      escaped += "&lt;";
    else if (c == '>')
      escaped += "&gt;";
    else if (c == '&')
      escaped += "&amp;";
    else
      escaped += c;
  }
  return escaped;
}

std::string microseconds(double seconds) { return fmt::format("{:.2f} µs", seconds * 1e6); }

}  // namespace

std::string time_breakdown_text(const LaunchRecord& launch) {
  if (!(launch.modelled_seconds > 0)) return "";
  const TimeBreakdown& b = launch.time_breakdown;
  std::string text = fmt::format("    {} modelled: kernel {}, launch {}\n", microseconds(launch.modelled_seconds),
                                 microseconds(b.kernel_seconds), microseconds(b.launch_seconds));
  text += "      what its waves do:";
  for (uint32_t cause = 0; cause < kTimeCauses; ++cause)
    if (b.shares[cause] >= 0.005) text += fmt::format(" {} {:.0f} %,", kTimeCauseNames[cause], 100 * b.shares[cause]);
  if (text.ends_with(',')) text.back() = '\n';
  text += fmt::format(
      "      busy: matrix units {:.0f} %, vector units {:.0f} %, LDS banks {:.0f} % (of it conflicts {:.0f} %), "
      "address "
      "pipelines {:.0f} %\n",
      100 * b.mfma_busy, 100 * b.valu_busy, 100 * b.lds_busy, 100 * b.lds_conflicts, 100 * b.vector_memory_busy);
  text +=
      fmt::format("      hits: L1 {:.0f} %, L2 {:.0f} %; {}B between CUs and L2, {}B behind the L2, {}B of it HBM's\n",
                  100 * b.l1_hit_rate, 100 * b.l2_hit_rate, quantity(b.l2_bytes), quantity(b.beyond_l2_bytes),
                  quantity(b.hbm_bytes));
  for (const emulator::HotLine& line : b.lines)
    if (line.share >= 0.02)
      text += fmt::format("      {:5.1f} %  {}  {}\n", 100 * line.share,
                          line.source.empty() ? "(no line table)" : printable_line(line.source), name_of(line.cause));
  for (const TimeChange& change : changes_that_help(b))
    text += fmt::format("      up to {} less without {}: {}\n", microseconds(change.gain_seconds),
                        name_of(change.cause), advice(change.cause));
  return text;
}

Json time_breakdown_json(const LaunchRecord& launch) {
  if (!(launch.modelled_seconds > 0)) return nullptr;
  const TimeBreakdown& b = launch.time_breakdown;
  Json shares = Json::object(), lines = Json::array(), advised = Json::array();
  for (uint32_t cause = 0; cause < kTimeCauses; ++cause) shares[std::string(kTimeCauseNames[cause])] = b.shares[cause];
  for (const emulator::HotLine& line : b.lines)
    lines.push_back({{"source", line.source}, {"share", line.share}, {"cause", name_of(line.cause)}});
  for (const TimeChange& change : changes_that_help(b))
    advised.push_back({{"without", name_of(change.cause)},
                       {"gain_us_at_most", change.gain_seconds * 1e6},
                       {"advice", advice(change.cause)}});
  return {
      {"us", launch.modelled_seconds * 1e6},
      {"kernel_us", b.kernel_seconds * 1e6},
      {"launch_us", b.launch_seconds * 1e6},
      {"shares", std::move(shares)},
      {"busy",
       {{"mfma", b.mfma_busy}, {"valu", b.valu_busy}, {"lds", b.lds_busy}, {"vector_memory", b.vector_memory_busy}}},
      {"l1_hit_rate", b.l1_hit_rate},
      {"l2_hit_rate", b.l2_hit_rate},
      {"lds_conflicts", b.lds_conflicts},
      {"bytes_l2", b.l2_bytes},
      {"bytes_beyond_l2", b.beyond_l2_bytes},
      {"bytes_hbm", b.hbm_bytes},
      {"traced_workgroups", b.traced_workgroups},
      {"hot_lines", std::move(lines)},
      {"changes", std::move(advised)}};
}

CallTotals call_totals(const Roofs& roofs, const ShapeResult& shape) {
  CallTotals totals;
  if (!(shape.time_us > 0) || !shape.time_is_modelled) return totals;
  double lds_busy = 0;  // seconds
  for (const LaunchRecord& launch : shape.launches) {
    const TimeBreakdown& b = launch.time_breakdown;
    totals.mfma_busy += b.mfma_busy * b.kernel_seconds * 1e6 / shape.time_us;
    totals.lds_conflicts += b.lds_conflicts * b.lds_busy * b.kernel_seconds;
    lds_busy += b.lds_busy * b.kernel_seconds;
    totals.bytes_l2 += b.l2_bytes;
    totals.bytes_beyond_l2 += b.beyond_l2_bytes;
    totals.bytes_hbm += b.hbm_bytes;
  }
  const emulator::TimingParameters& model = emulator::mi300x_timing();
  totals.us = shape.time_us;
  if (lds_busy > 0) totals.lds_conflicts /= lds_busy;
  totals.bytes_least = static_cast<double>(roofs.input_bytes + roofs.output_bytes);
  totals.matrix_us = roofs.matrix_peak_us;
  const double rate = totals.bytes_least <= model.infinity_cache.bytes ? model.infinity_cache.terabytes_per_second
                                                                       : model.hbm.terabytes_per_second;
  totals.memory_us = totals.bytes_least / (rate * 1e6);
  return totals;
}

std::string call_totals_text(const CallTotals& t) {
  if (!(t.us > 0)) return "";
  return fmt::format(
      "the call: {:.2f} µs modelled, {:.0f} % of the nearer roof ({}: matrix units {:.2f} µs, memory {:.2f} µs); "
      "matrix "
      "units {:.0f} % busy;\n  LDS bank conflicts {:.1f} % of the banks' time; {}B to move at the least, {}B between "
      "CUs "
      "and L2, {}B behind the L2, {}B of it HBM's\n",
      t.us, 100 * t.of_roof(), t.matrix_us > t.memory_us ? "matrix" : "memory", t.matrix_us, t.memory_us,
      100 * t.mfma_busy, 100 * t.lds_conflicts, quantity(t.bytes_least), quantity(t.bytes_l2),
      quantity(t.bytes_beyond_l2), quantity(t.bytes_hbm));
}

Json call_totals_json(const CallTotals& t) {
  if (!(t.us > 0)) return nullptr;
  return {{"us", t.us},
          {"of_nearer_roof", t.of_roof()},
          {"nearer_roof", t.matrix_us > t.memory_us ? "matrix" : "memory"},
          {"matrix_us", t.matrix_us},
          {"memory_us", t.memory_us},
          {"mfma_busy", t.mfma_busy},
          {"lds_conflicts", t.lds_conflicts},
          {"bytes_least", t.bytes_least},
          {"bytes_l2", t.bytes_l2},
          {"bytes_beyond_l2", t.bytes_beyond_l2},
          {"bytes_hbm", t.bytes_hbm}};
}

std::string roofline_svg(const std::vector<LaunchRecord>& launches) {
  constexpr double kWidth = 640, kHeight = 480, kMargin = 64;
  constexpr double kLowX = 0.1, kHighX = 10000, kLowY = 0.1, kHighY = 5000;  // FLOP a byte, TFLOP/s
  constexpr double kMemory = 4.1;                                            // TB/s, achieved
  struct Roof {
    const char* name;
    double tflops;
  };
  constexpr Roof kRoofs[] = {{"FP8", 2614.9}, {"FP16, BF16", 1307.4}, {"FP32 matrix", 163.4}};
  const auto x = [&](double v) {
    return kMargin + (kWidth - 2 * kMargin) * std::log(std::clamp(v, kLowX, kHighX) / kLowX) / std::log(kHighX / kLowX);
  };
  const auto y = [&](double v) {
    return kHeight - kMargin -
           (kHeight - 2 * kMargin) * std::log(std::clamp(v, kLowY, kHighY) / kLowY) / std::log(kHighY / kLowY);
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{2}\" y=\"24\" font-size=\"15\">Roofline, "
      "modelled: MI300X at 2.1 GHz</text>\n",
      kWidth, kHeight, kMargin);
  const auto text = [&](double at_x, double at_y, const char* anchor, const std::string& what) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", at_x, at_y, anchor, what);
  };
  const auto line = [&](double x1, double y1, double x2, double y2, const char* colour) {
    svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
                       y2, colour);
  };
  for (double tick = 0.1; tick <= 10000; tick *= 10) {
    line(x(tick), y(kLowY), x(tick), y(kHighY), "#ddd");
    text(x(tick), kHeight - kMargin + 18, "middle", fmt::format("{:g}", tick));
    if (tick > kHighY) continue;
    line(x(kLowX), y(tick), x(kHighX), y(tick), "#ddd");
    text(kMargin - 6, y(tick) + 4, "end", fmt::format("{:g}", tick));
  }
  line(x(kLowX), y(kLowX * kMemory), x(kRoofs[0].tflops / kMemory), y(kRoofs[0].tflops), "black");
  for (const Roof& roof : kRoofs) {
    line(x(roof.tflops / kMemory), y(roof.tflops), x(kHighX), y(roof.tflops), "black");
    text(x(kHighX), y(roof.tflops) - 4, "end", roof.name);
  }
  for (const LaunchRecord& launch : launches) {
    const TimeBreakdown& b = launch.time_breakdown;
    const double flops = static_cast<double>(launch.counters.mfma_flops);
    if (flops <= 0 || b.kernel_seconds <= 0 || b.beyond_l2_bytes <= 0) continue;
    const double at_x = x(flops / b.beyond_l2_bytes), at_y = y(flops / b.kernel_seconds * 1e-12);
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"#c03020\"/>\n", at_x, at_y);
    text(at_x + 8, at_y + 4, "start", xml_escaped(printable_line(demangled_name(launch.kernel))));
  }
  text(kWidth / 2, kHeight - 14, "middle", "FLOP on the matrix units a byte from behind the L2");
  text(kMargin, 44, "start", "TFLOP/s");
  return svg + "</svg>\n";
}

}  // namespace hipbench::cli
