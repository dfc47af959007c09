// Several jobs on a device: by what each takes of its device's compute and memory, and of its host's cores (HyperSack,
// section IV: the constraints of equations 1 to 4, algorithms 1 and 2). Pure.
//
// A device's compute is what its jobs may take together, in thousandths of the time in which one job alone would keep
// it busy: more than 1,000 where jobs beside each other get more done. Memory is never promised twice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"

namespace espalier {

// What is left of a device. Devices of one kind take a job alike.
struct PackingDevice {
  std::size_t kind = 0;
  std::size_t host = 0;
  std::int64_t compute = 0;       // thousandths
  std::int64_t memory_bytes = 0;  // none taken where it is not known
};

// What a job takes of a device of one kind.
struct PackingDemand {
  std::int64_t compute = 0;
  std::int64_t memory_bytes = 0;
};

struct PackingJob {
  std::vector<PackingDemand> takes;  // by device kind
  std::int64_t host_cores = 0;
  Seconds time{0};  // that it runs, as is expected
};

// Which of the devices that a job fits on it is given.
enum class PackingRule {
  kFirstFit,  // the first
  kWorstFit,  // the one with the most compute left; of equal ones the last
};

struct PackingOrder {
  PackingRule rule = PackingRule::kWorstFit;
  // The longest first, else as they come; of those that take equally long, as they come.
  bool by_time = true;
  // Where nothing would have room on a device beside the next job, the one that leaves least of it is taken instead:
  // our own, beyond the paper.
  bool fills = false;
};

// The devices, by the jobs; none: it fits nowhere. `host_cores`: that are left, by host. O(jobs x devices), with
// `fills` O(jobs x (devices + jobs)).
std::vector<std::optional<std::size_t>> Pack(std::span<const PackingJob> jobs, std::vector<PackingDevice> devices,
                                             std::vector<std::int64_t> host_cores, const PackingOrder& order);

// One of `count` devices, whatever they are: `fits(i)` says whether the job fits on one, `left(i)` how much compute it
// has left. None: it fits nowhere. O(count).
template <class Fits, class Left>
std::optional<std::size_t> ChooseDevice(std::size_t count, PackingRule rule, const Fits& fits, const Left& left) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < count; ++i) {
    if (!fits(i)) continue;
    if (rule == PackingRule::kFirstFit) return i;
    if (!best || left(i) >= left(*best)) best = i;
  }
  return best;
}

}  // namespace espalier
