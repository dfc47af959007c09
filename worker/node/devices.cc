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

// The share of the cores that slot `index` of `count` has.
std::vector<int> ShareOf(const std::vector<int>& cores, int index, int count) {
  const int core_count = static_cast<int>(cores.size());
  if (core_count < count) return cores;
  return {cores.begin() + index * core_count / count, cores.begin() + (index + 1) * core_count / count};
}

worker::WorkerPlace PlaceOf(const Device& device, int index) {
  const std::string threads = std::to_string(device.threads);
  worker::WorkerPlace place{
      .variables = {"CUBLAS_WORKSPACE_CONFIG=:4096:8"},  // cuBLAS repeats its bits with this alone
      .cores = ShareOf(device.cores, index, device.slots),
      .memory_bytes = device.memory_bytes};
  for (const char* name : {"ESPALIER_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    place.variables.push_back(std::string(name) + "=" + threads);
  }
  if (device.gpus.has_value()) place.variables.push_back("CUDA_VISIBLE_DEVICES=" + *device.gpus);
  return place;
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

std::vector<worker::WorkerPlace> PlacesOf(const std::vector<Device>& devices) {
  std::vector<worker::WorkerPlace> places;
  for (const Device& device : devices) {
    for (int index = 0; index < device.slots; ++index) places.push_back(PlaceOf(device, index));
  }
  return places;
}

}  // namespace espalier::node
