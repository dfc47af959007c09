// The devices of a server - GPUs, or sets of cores - and what each slot's workers are given of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/device.h"
#include "worker/node/gpu_library.h"
#include "worker/process/worker_place.h"

namespace espalier::node {

struct LocalDevice {
  Device capacity;                  // as the master is told of it
  std::optional<std::string> gpus;  // as CUDA_VISIBLE_DEVICES names them; empty: none can be seen; unset: all can
  std::vector<int> cores;           // none: all
  int threads = 1;                  // of a worker's math, >= 1: part of the device kind
  std::int64_t memory_bytes = 0;    // of the server's, for a worker on one slot, >= 0; 0: any
};

// Sorted, from a text as Linux writes sets of cores, "0-3,8"; empty: none. Error: kInvalidArgument.
Result<std::vector<int>> ParseCores(std::string_view text);

// Those that CUDA_VISIBLE_DEVICES leaves: by their numbers, or how their uuids begin, up to the first that
// names none. Unset: all.
std::vector<Gpu> VisibleGpus(const std::vector<Gpu>& all, const std::optional<std::string>& visible);

// Of a server whose configuration names none: each GPU, with one slot.
std::vector<LocalDevice> DevicesOf(const std::vector<Gpu>& gpus);

std::vector<Device> CapacitiesOf(const std::vector<LocalDevice>& devices);

// Of workers on the slot that have the reservation. As long as there is a core for each slot, they have the equal
// shares of the cores, from the slot's own on, that hold as many as are reserved; else all. REQUIRES: CheckReservation
// has found nothing.
worker::WorkerPlace PlaceOf(const std::vector<LocalDevice>& devices, int slot, const Reservation& reservation);

}  // namespace espalier::node
