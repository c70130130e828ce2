#pragma once
// Clocks, power and temperature of an AMD GPU, as the amdgpu driver shows them in sysfs
// (https://docs.kernel.org/gpu/amdgpu/thermal.html). They are logged beside times, never used to correct them.

#include <filesystem>
#include <optional>

namespace hipbench {

// What the system does not tell is empty.
struct Telemetry {
  std::optional<double> core_mhz, memory_mhz;
  std::optional<double> power_watts;
  std::optional<double> hottest_celsius;  // of all sensors of the device
};

// `device`: the GPU's folder, for example /sys/class/drm/card0/device.
Telemetry read_telemetry(const std::filesystem::path& device);

}  // namespace hipbench
