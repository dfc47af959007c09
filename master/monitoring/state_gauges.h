// What the service stands at, as numbers for Prometheus: servers and slots, studies, trials, steps, bytes.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "master/core/state/master_state.h"

namespace espalier::master {

// Pure. O(servers x devices + studies + plans).
std::vector<prometheus::MetricFamily> StateGauges(const MasterState& state);

}  // namespace espalier::master
