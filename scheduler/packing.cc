#include "scheduler/packing.h"

#include <algorithm>
#include <numeric>

namespace espalier {
namespace {

bool Fits(const PackingJob& job, const PackingDevice& device, std::span<const std::int64_t> host_cores) {
  const PackingDemand& takes = job.takes[device.kind];
  return takes.compute <= device.compute && takes.memory_bytes <= device.memory_bytes &&
         job.host_cores <= host_cores[device.host];
}

}  // namespace

std::vector<std::optional<std::size_t>> Pack(std::span<const PackingJob> jobs, std::vector<PackingDevice> devices,
                                             std::vector<std::int64_t> host_cores, const PackingOrder& order) {
  std::vector<std::size_t> waiting(jobs.size());
  std::iota(waiting.begin(), waiting.end(), std::size_t{0});
  if (order.by_time) std::ranges::stable_sort(waiting, [&](auto a, auto b) { return jobs[a].time > jobs[b].time; });
  std::vector<std::optional<std::size_t>> placed(jobs.size());
  const auto compute_on = [&](std::size_t job, std::size_t device) {
    return jobs[job].takes[devices[device].kind].compute;
  };
  // Of the jobs that are left, the one that fills the device, if none has room beside the first; else the first.
  const auto filling = [&](std::span<const std::size_t> rest, std::size_t device) {
    std::size_t best = rest.front();
    const std::int64_t left = devices[device].compute - compute_on(best, device);
    for (const std::size_t job : rest.subspan(1)) {
      if (placed[job]) continue;
      if (compute_on(job, device) <= left) return rest.front();
      const bool takes_more = compute_on(job, device) > compute_on(best, device);
      if (takes_more && Fits(jobs[job], devices[device], host_cores)) best = job;
    }
    return best;
  };
  for (std::size_t next = 0; next < waiting.size();) {
    const std::size_t first = waiting[next];
    const auto device = placed[first] ? std::nullopt
                                      : ChooseDevice(
                                            devices.size(), order.rule,
                                            [&](std::size_t i) { return Fits(jobs[first], devices[i], host_cores); },
                                            [&](std::size_t i) { return devices[i].compute; });
    if (!device) {
      ++next;
      continue;
    }
    const std::size_t job = order.fills ? filling(std::span(waiting).subspan(next), *device) : first;
    placed[job] = device;
    devices[*device].compute -= compute_on(job, *device);
    devices[*device].memory_bytes -= jobs[job].takes[devices[*device].kind].memory_bytes;
    host_cores[devices[*device].host] -= jobs[job].host_cores;
  }
  return placed;
}

}  // namespace espalier
