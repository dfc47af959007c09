// Policies that let several runs share a device, by what each is measured to take of it (HyperSack, section IV): of its
// compute as a GPU's utilization shows, of its memory at most, and of its cores. What a run takes is reserved for it,
// so that runs side by side never take more than there is; a device whose owner says that they may take more of its
// compute together than the whole of it (Device::compute) is kept busier.
//
// - `hypersack`: the longest first, each on the device with the most compute left (worst fit, decreasing);
//   `hypersack_first_fit_decreasing`: on the first device that it fits.
// - `hypersack_filling`: as `hypersack`; but where nothing would have room beside the next run on its device, the one
// that
//   leaves least of it.
// - `hypersack_worst_fit`, `hypersack_first_fit`: the earliest submitted first.
//
// What does not fit is passed over. Once that took as long as it would run itself, the first device that can hold it is
// given to nothing else. A training of whose like nothing is known runs alone on a GPU, and is measured so; cores are
// given in equal shares. Nothing is preempted. Since when work is passed over stands as a label on the first trial that
// waits for it, so that a restart changes no decision.
#pragma once

#include <memory>
#include <string_view>

#include "scheduler/packing.h"
#include "scheduler/policy.h"

namespace espalier {

struct PackRule {
  std::string_view name;
  PackingRule rule = PackingRule::kWorstFit;
  bool by_time = true;
  bool fills = false;  // as in PackingOrder
};

extern const PackRule kHyperSack;
extern const PackRule kHyperSackFilling;
extern const PackRule kHyperSackWorstFit;
extern const PackRule kHyperSackFirstFitDecreasing;
extern const PackRule kHyperSackFirstFit;

std::unique_ptr<Policy> MakePackDevices(const PackRule& rule);

}  // namespace espalier
