#include "worker/node/devices.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace espalier::node {
namespace {

constexpr int kCoresMax = 1024;  // as many as Linux's sets have, unless it is asked for more

Result<int> ParseCore(std::string_view text) {
  int core = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), core);
  if (error == std::errc() && end == text.data() + text.size() && core >= 0 && core < kCoresMax) return core;
  return MakeError(ErrorCode::kInvalidArgument, "expected cores as \"0-3,8\", got '" + std::string(text) + "'");
}

// Of `cores`, cut into equal shares for `slots`: those of the slot, and of as many after it, the first after the last,
// as hold so many cores. 0: all.
std::vector<int> CoresFrom(const std::vector<int>& cores, int slot, int slots, int count) {
  const int core_count = static_cast<int>(cores.size());
  if (core_count < slots || count == 0 || count >= core_count) return cores;
  const int shares = (count * slots + core_count - 1) / core_count;
  std::vector<int> some;
  for (int i = slot * core_count / slots; i < (slot + shares) * core_count / slots; ++i) {
    some.push_back(cores[static_cast<std::size_t>(i % core_count)]);
  }
  std::ranges::sort(some);
  return some;
}

}  // namespace

Result<std::vector<int>> ParseCores(std::string_view text) {
  std::set<int> cores;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    ESPALIER_ASSIGN(const int first, ParseCore(part.substr(0, dash)));
    int last = first;
    if (dash != std::string_view::npos) {
      ESPALIER_ASSIGN(last, ParseCore(part.substr(dash + 1)));
    }
    if (last < first) return MakeError(ErrorCode::kInvalidArgument, "'" + std::string(part) + "' goes backwards");
    for (int core = first; core <= last; ++core) cores.insert(core);
  }
  return std::vector<int>(cores.begin(), cores.end());
}

std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& all, const std::optional<std::string>& visible) {
  if (!visible.has_value()) return all;
  std::vector<Gpu> gpus;
  for (std::string_view rest = *visible; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const auto named = std::find_if(all.begin(), all.end(), [&](const Gpu& gpu) {
      return std::to_string(gpu.number) == name || (name.starts_with("GPU-") && gpu.uuid.starts_with(name));
    });
    if (named == all.end()) break;
    gpus.push_back(*named);
  }
  return gpus;
}

std::vector<LocalDevice> DevicesOf(const std::vector<Gpu>& gpus) {
  std::vector<LocalDevice> devices;
  for (const Gpu& gpu : gpus) {
    const std::string name = "gpu-" + std::to_string(devices.size());
    devices.push_back({.capacity = {name, DeviceType::kGpu, 1, gpu.memory_bytes, 0}, .gpus = gpu.uuid, .cores = {}});
  }
  return devices;
}

std::vector<Device> CapacitiesOf(const std::vector<LocalDevice>& devices) {
  std::vector<Device> capacities;
  for (const LocalDevice& device : devices) capacities.push_back(device.capacity);
  return capacities;
}

// Threads stay the device's, whatever is reserved: they change bits.
worker::WorkerPlace PlaceOf(const std::vector<LocalDevice>& devices, int slot, const Reservation& reservation) {
  const LocalDevice& device = devices.at(static_cast<std::size_t>(reservation.device));
  const int index = FindSlot(CapacitiesOf(devices), slot).value().index;
  const int shares = ShareCountOf(device.capacity, reservation);
  worker::WorkerPlace place{
      .variables = {"CUBLAS_WORKSPACE_CONFIG=:4096:8"},  // cuBLAS repeats its bits with this alone
      .cores = CoresFrom(device.cores, index, device.capacity.slots, reservation.host_cores),
      .memory_bytes =
          device.capacity.type == DeviceType::kCores ? reservation.memory_bytes : device.memory_bytes * shares};
  for (const char* name : {"ESPALIER_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    place.variables.push_back(std::string(name) + "=" + std::to_string(device.threads));
  }
  if (device.gpus.has_value()) {
    place.variables.push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");  // as NVML and nvidia-smi count them
    place.variables.push_back("CUDA_VISIBLE_DEVICES=" + *device.gpus);
  }
  return place;
}

}  // namespace espalier::node
