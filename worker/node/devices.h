// The devices of a server - GPUs, or sets of cores - and what each slot's workers are given of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "worker/process/worker_place.h"

namespace espalier::node {

// Its slots are equal shares of it.
struct Device {
  std::optional<std::string> gpus;  // as CUDA_VISIBLE_DEVICES names them; empty: none can be seen; unset: all can
  std::vector<int> cores;           // none: all
  int slots = 1;                    // >= 1
  int threads = 1;                  // of a worker's math, >= 1: part of the device kind
  std::int64_t memory_bytes = 0;    // of a slot's worker, >= 0; 0: any
};

// Sorted, from a text as Linux writes sets of cores, "0-3,8"; empty: none. Error: kInvalidArgument.
Result<std::vector<int>> ParseCores(std::string_view text);

// One for each slot, in order: slot 0 is the first device's first. Cores are shared out in equal runs as long as there
// is one for each slot; else all slots have all. REQUIRES: at least one device.
std::vector<worker::WorkerPlace> PlacesOf(const std::vector<Device>& devices);

}  // namespace espalier::node
