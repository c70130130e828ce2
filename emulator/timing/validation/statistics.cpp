#include "emulator/timing/validation/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace hipbench::emulator {

namespace {

std::vector<f64> ranks(const std::vector<f64>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t k) { return values[k]; });
  std::vector<f64> result(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t last = first;
    while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) ++last;
    for (size_t k = first; k <= last; ++k) result[order[k]] = static_cast<f64>(first + last) / 2;
    first = last + 1;
  }
  return result;
}

f64 mean(const std::vector<f64>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<f64>(values.size());
}

using ByShape = std::map<std::string, std::vector<Agreement>>;

ByShape by_shape(const std::vector<Agreement>& points) {
  ByShape shapes;
  for (const Agreement& point : points) shapes[point.shape].push_back(point);
  return shapes;
}

std::vector<f64> column(const std::vector<Agreement>& points, f64 Agreement::* field) {
  std::vector<f64> values;
  for (const Agreement& point : points) values.push_back(point.*field);
  return values;
}

f64 correlation(const std::vector<Agreement>& points) {
  return rank_correlation(column(points, &Agreement::measured_us), column(points, &Agreement::modelled_us));
}

std::vector<f64> errors(const std::vector<Agreement>& points) {
  std::vector<f64> values;
  for (const Agreement& point : points) values.push_back(point.error());
  return values;
}

std::string summary(std::string_view name, const std::vector<Agreement>& points) {
  if (points.empty()) return "";
  const std::vector<f64> values = errors(points);
  return fmt::format(
      "{:<24} {:4} points: median error {:5.1f} %, 90th percentile {:5.1f} %, rank correlation {:.3f}, bias {:.3f}\n",
      name, points.size(), 100 * percentile(values, 0.5), 100 * percentile(values, 0.9), correlation(points),
      bias(points));
}

}  // namespace

f64 Agreement::error() const { return std::abs(modelled_us - measured_us) / measured_us; }

f64 percentile(std::vector<f64> values, f64 p) {
  if (values.empty()) return std::numeric_limits<f64>::quiet_NaN();
  std::ranges::sort(values);
  const f64 place = p * static_cast<f64>(values.size() - 1);
  const size_t below = static_cast<size_t>(place), above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<f64>(below));
}

f64 rank_correlation(const std::vector<f64>& a, const std::vector<f64>& b) {
  if (a.size() < 3 || a.size() != b.size()) return std::numeric_limits<f64>::quiet_NaN();
  const std::vector<f64> ra = ranks(a), rb = ranks(b);
  const f64 ma = mean(ra), mb = mean(rb);
  f64 products = 0, squares_a = 0, squares_b = 0;
  for (size_t k = 0; k < ra.size(); ++k) {
    products += (ra[k] - ma) * (rb[k] - mb);
    squares_a += (ra[k] - ma) * (ra[k] - ma);
    squares_b += (rb[k] - mb) * (rb[k] - mb);
  }
  return products / std::sqrt(squares_a * squares_b);
}

f64 regret(const std::vector<Agreement>& of_shape) {
  const auto chosen = std::ranges::min_element(of_shape, {}, &Agreement::modelled_us);
  const auto best = std::ranges::min_element(of_shape, {}, &Agreement::measured_us);
  return chosen->measured_us / best->measured_us;
}

f64 bias(const std::vector<Agreement>& points) {
  f64 sum = 0;
  for (const Agreement& point : points) sum += std::log(point.modelled_us / point.measured_us);
  return std::exp(sum / static_cast<f64>(points.size()));
}

PairOrder pair_order(const std::vector<Agreement>& points, f64 factor) {
  PairOrder result{.factor = factor};
  u64 same = 0;
  for (const auto& [shape, group] : by_shape(points))
    for (const Agreement& slow : group)
      for (const Agreement& fast : group) {
        if (slow.modelled_us < factor * fast.modelled_us || slow.modelled_us <= fast.modelled_us) continue;
        ++result.pairs;
        same += slow.measured_us > fast.measured_us ? 1 : 0;
      }
  result.same_order = result.pairs == 0 ? 0 : static_cast<f64>(same) / static_cast<f64>(result.pairs);
  return result;
}

std::string agreement_report(const std::vector<Agreement>& points) {
  std::vector<Agreement> fitted, held_out;
  for (const Agreement& point : points) (point.fitted ? fitted : held_out).push_back(point);
  std::string text = summary("looked at for fitting", fitted) + summary("held out", held_out) + summary("all", points);
  text += "\nshape                points  rank correlation  best tile within  bias\n";
  size_t ranked = 0, good = 0;
  const ByShape shapes = by_shape(points);
  for (const auto& [shape, group] : shapes) {
    const f64 rho = correlation(group), worse = regret(group);
    ranked += rho >= 0.75 ? 1 : 0;
    good += worse <= 1.15 ? 1 : 0;
    text += fmt::format("{:<20} {:6}  {:16.2f}  {:14.1f} %  {:.2f}\n", shape, group.size(), rho, 100 * (worse - 1),
                        bias(group));
  }
  text += fmt::format(
      "\nrank correlation of at least 0.75 in {} of {} shapes; the model's best tile within 15 % of the measured best "
      "in {} of {}\n\n",
      ranked, shapes.size(), good, shapes.size());
  for (const f64 factor : {1.0, 1.1, 1.25, 1.5, 2.0}) {
    const PairOrder order = pair_order(held_out, factor);
    text += fmt::format(
        "held-out pairs of one shape modelled at least {:.2f} apart: {:5}, measured in the same order {:.1f} %\n",
        factor, order.pairs, 100 * order.same_order);
  }
  return text;
}

namespace {

constexpr f64 kSize = 640, kMargin = 60;

std::string svg_start(std::string_view title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{0}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{1}\" y=\"24\" font-size=\"15\">{2}</text>\n",
      kSize, kMargin, title);
}
std::string line(f64 x1, f64 y1, f64 x2, f64 y2, std::string_view colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}
std::string label(f64 x, f64 y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

}  // namespace

std::string scatter_svg(const std::vector<Agreement>& points) {
  constexpr f64 kLow = 10, kHigh = 20000;  // µs
  const auto along = [](f64 us) { return (kSize - 2 * kMargin) * std::log(us / kLow) / std::log(kHigh / kLow); };
  const auto x = [&](f64 us) { return kMargin + along(us); };
  const auto y = [&](f64 us) { return kSize - kMargin - along(us); };
  std::string svg = svg_start("FP8 GEMM tile variants: modelled over measured time, µs");
  for (const f64 us : {10.0, 100.0, 1000.0, 10000.0}) {
    svg += line(x(us), y(kLow), x(us), y(kHigh), "#ddd") + line(x(kLow), y(us), x(kHigh), y(us), "#ddd");
    svg += label(x(us), kSize - kMargin + 18, "middle", fmt::format("{}", us)) +
           label(kMargin - 6, y(us) + 4, "end", fmt::format("{}", us));
  }
  svg += line(x(kLow), y(kLow), x(kHigh), y(kHigh), "black");
  svg += line(x(kLow), y(1.25 * kLow), x(kHigh / 1.25), y(kHigh), "#999") +
         line(x(1.25 * kLow), y(kLow), x(kHigh), y(kHigh / 1.25), "#999");
  const ByShape shapes = by_shape(points);
  size_t number = 0;
  for (const auto& [shape, group] : shapes) {
    const f64 hue = 360.0 * static_cast<f64>(number++) / static_cast<f64>(shapes.size());
    for (const Agreement& point : group)
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"hsl({:.0f},70%,45%)\" fill-opacity=\"0.7\"><title>{} "
          "{}</title></circle>\n",
          x(std::clamp(point.measured_us, kLow, kHigh)), y(std::clamp(point.modelled_us, kLow, kHigh)), hue, shape,
          point.variant);
  }
  svg += label(kSize / 2, kSize - 14, "middle", "measured (grey lines: 25 % off)");
  return svg + "</svg>\n";
}

std::string error_svg(const std::vector<Agreement>& points) {
  std::vector<f64> values = errors(points);
  std::ranges::sort(values);
  const auto x = [](f64 error) { return kMargin + (kSize - 2 * kMargin) * std::min(error, 1.0); };
  const auto y = [](f64 share) { return kSize - kMargin - (kSize - 2 * kMargin) * share; };
  std::string svg = svg_start("Share of points with at most this error");
  for (const f64 tick : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    svg += line(x(tick), y(0), x(tick), y(1), "#ddd") + line(x(0), y(tick), x(1), y(tick), "#ddd");
    svg += label(x(tick), kSize - kMargin + 18, "middle", fmt::format("{:.0f} %", 100 * tick));
    svg += label(kMargin - 6, y(tick) + 4, "end", fmt::format("{:.0f} %", 100 * tick));
  }
  std::string path;
  for (size_t k = 0; k < values.size(); ++k)
    path += fmt::format("{:.1f},{:.1f} ", x(values[k]), y(static_cast<f64>(k + 1) / static_cast<f64>(values.size())));
  svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fbf\" stroke-width=\"2\"/>\n", path);
  return svg + label(kSize / 2, kSize - 14, "middle", "|modelled - measured| / measured") + "</svg>\n";
}

}  // namespace hipbench::emulator
