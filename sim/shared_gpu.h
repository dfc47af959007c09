// How simulated trainings share a GPU: each keeps it busy for a part of the time when it is alone; together they keep
// it busy whenever any of them would, and each gets its part of that, less what changing between them costs. This is
// what HyperSack's figures 10 to 16 come to. Pure.
#pragma once

#include <span>

namespace espalier::sim {

// The part of the time in which trainings that would each keep the GPU so busy do so together: 0 to 1.
double BusyTogether(std::span<const double> utilizations);

// How fast each of them is trained, compared with alone: > 0 to 1. Each beside another costs all of them a hundredth.
// REQUIRES: one at least.
double SpeedTogether(std::span<const double> utilizations);

}  // namespace espalier::sim
