// What a node manager learns from its orders, and a stub without slots must find by itself: the lineage digests of the
// points that it reports. Built by the code that the master has them from.
#pragma once

#include <cstdint>

#include "base/digest.h"
#include "bench/trials.h"
#include "protocol/offer.h"

namespace espalier::bench {

// Of the last node of TrialOf(shape, number), in the plan of the first administrator's team for the offer, with epochs
// as steps. O(the trial's joint segments).
Digest128 LineageOf(const Offer& offer, const std::string& device_kind, Shape shape, std::int64_t number);

}  // namespace espalier::bench
