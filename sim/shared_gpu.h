// How simulated trainings share a GPU: each keeps it busy for a part of the time when it is alone; together they keep
// it busy whenever any of them would, and each gets its part of that, less what changing between them costs. This is
// what HyperSack's figures 10 to 16 come to. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/units.h"
#include "worker/protocol/worker_message.h"

namespace espalier::sim {

// What a training takes of a GPU.
struct GpuDemand {
  double utilization = 1;         // the part of the time in which it keeps the GPU busy when it is alone: > 0 to 1
  std::int64_t memory_bytes = 0;  // at most
  Seconds step{1};                // one step, alone
};
// By the values in force.
using GpuDemands = std::function<GpuDemand(const worker::Values&)>;

// The part of the time in which trainings that would each keep the GPU so busy do so together: 0 to 1.
double BusyTogether(std::span<const double> utilizations);

// How fast each of them is trained, compared with alone: > 0 to 1. Each beside another costs all of them a hundredth.
// REQUIRES: one at least.
double SpeedTogether(std::span<const double> utilizations);

}  // namespace espalier::sim
