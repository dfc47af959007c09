// What was trained again although nothing had gone wrong, and whether a claim that came too late explains it: of two
// trials that are known in time, the common beginning is trained once (law 3). Told from what workers trained and when
// claims were made. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/core/reactor.h"
#include "sim/worker_process.h"

namespace espalier::sim {

class Again {
 public:
  void OnTrained(PlanId plan, const TrainedStep& trained, Seconds now);
  void OnDecided(const master::Transition& transition, Seconds now);

  // The first step that was trained again, although every claim on it was made longer than `to_node` before it was
  // trained first; one sentence. `to_node`: how long a decision takes to reach a node manager, at most.
  std::string FindNeedless(const master::MasterState& stored, Seconds to_node) const;

 private:
  struct Trained {
    Seconds first_at{0};
    std::size_t times = 0;
  };
  struct Repeated {
    PlanId plan;
    TrainedStep step;
  };

  std::map<std::pair<PlanId, std::uint64_t>, Trained> trained_;  // by the state that it led to
  std::vector<Repeated> repeated_;
  std::map<ClaimId, Seconds> claimed_at_;
};

}  // namespace espalier::sim
