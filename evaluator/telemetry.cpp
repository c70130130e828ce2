#include "evaluator/telemetry.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace hipbench {

namespace {

namespace fs = std::filesystem;

std::optional<double> number_in(const fs::path& file, double unit) {
  double value = 0;
  if (std::ifstream stream(file); stream >> value) return value * unit;
  return std::nullopt;
}

}  // namespace

Telemetry read_telemetry(const fs::path& device) {
  Telemetry telemetry;
  std::error_code missing;
  for (const fs::directory_entry& sensors : fs::directory_iterator(device / "hwmon", missing)) {
    const fs::path& folder = sensors.path();
    if (const auto hertz = number_in(folder / "freq1_input", 1e-6)) telemetry.core_mhz = hertz;
    if (const auto hertz = number_in(folder / "freq2_input", 1e-6)) telemetry.memory_mhz = hertz;
    for (const char* power : {"power1_input", "power1_average"})  // the newer drivers' name, the older ones'
      if (const auto microwatts = number_in(folder / power, 1e-6); microwatts && !telemetry.power_watts)
        telemetry.power_watts = microwatts;
    for (int sensor = 1; sensor <= 3; ++sensor)  // edge, junction, memory
      if (const auto degrees = number_in(folder / ("temp" + std::to_string(sensor) + "_input"), 1e-3))
        telemetry.hottest_celsius = std::max(telemetry.hottest_celsius.value_or(*degrees), *degrees);
  }
  return telemetry;
}

}  // namespace hipbench
