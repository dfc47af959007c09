#include "worker/node/core/slot.h"

#include <algorithm>

namespace espalier::node {
namespace {

constexpr Seconds kRespawnDelayFirst{0.1};
constexpr Seconds kRespawnDelayMax{10};

}  // namespace

Seconds RespawnDelay(const Worker& worker) {
  if (const auto* dying = std::get_if<Killed>(&worker.state)) return dying->respawn_delay;
  const auto* describing = std::get_if<Describing>(&worker.state);
  if (describing == nullptr) return Seconds(0);
  return std::clamp(2 * describing->respawn_delay, kRespawnDelayFirst, kRespawnDelayMax);
}

void NoteLeft(Worker& worker, std::optional<Standing> standing) {
  const auto* ready = std::get_if<Ready>(&worker.state);
  if (ready == nullptr || !ready->proceeds) standing.reset();
  if (standing.has_value()) standing->reloads = ready->reloads;
  worker.standing = std::move(standing);
}

bool Has(const Description& description, const std::string& capability) {
  return std::ranges::find(description.capabilities, capability) != description.capabilities.end();
}

bool MayHoldMemory(const Slot& slot) {
  return std::any_of(slot.seats.begin(), slot.seats.end(), [](const auto& item) {
    const auto* worker = std::get_if<Worker>(&item.second);
    return worker != nullptr && !std::holds_alternative<Describing>(worker->state);
  });
}

bool Saves(const Worker& worker) {
  return std::any_of(worker.asked.begin(), worker.asked.end(),
                     [](const auto& item) { return std::holds_alternative<Save>(item.second.request); });
}

const std::string* RuntimeOf(const Slot& slot, std::int64_t number) {
  for (const auto& [runtime, seat] : slot.seats) {
    const auto* worker = std::get_if<Worker>(&seat);
    if (worker != nullptr && worker->number == number) return &runtime;
  }
  return nullptr;
}

Worker* WorkerOn(Slot& slot, const std::string& runtime) {
  const auto seat = slot.seats.find(runtime);
  return seat == slot.seats.end() ? nullptr : std::get_if<Worker>(&seat->second);
}

}  // namespace espalier::node
