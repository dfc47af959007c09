// What a team, or one of its users, uses of the service, and may use of it at most.
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace espalier::master {

// A team with all of its users, or one user alone.
struct Party {
  enum class Kind { kTeam, kUser };
  Kind kind = Kind::kTeam;
  std::string name;
  friend auto operator<=>(const Party&, const Party&) = default;
};

// "team", "user".
std::string_view Name(Party::Kind kind);
Result<Party::Kind> ParsePartyKind(std::string_view name);

// As people read it: "team vision", "user ann".
std::string PartyName(const Party& party);

// None: no limit.
struct Quota {
  // Who comes to one of these is refused more of it. Plan nodes stay for good.
  std::optional<std::int64_t> open_trials;  // that wait for something, or may be asked for more
  std::optional<std::int64_t> plan_nodes;
  // Who comes to one of these is stopped until there is less, or an administrator allows more: no run is begun for its
  // studies alone, and those that are under way for them alone are preempted.
  std::optional<std::int64_t> stored_bytes;  // of checkpoints that are needed; all others that are too many are evicted
  std::optional<Seconds> device_time;        // for which runs hold slots, in a day (UTC)

  bool empty() const { return !open_trials && !plan_nodes && !stored_bytes && !device_time; }
  friend bool operator==(const Quota&, const Quota&) = default;
};

// By what a party is stopped.
enum class StoppedBy { kStoredBytes, kDeviceTime };

using Day = std::chrono::sys_days;  // UTC

// A plan node, and the checkpoints on it, count for whose trial entered it first.
struct Usage {
  std::int64_t plan_nodes = 0;
  std::int64_t stored_bytes = 0;
  // What was charged for the time that runs held slots on the last day on which some was; of a run that was charged at
  // several times, or over midnight, each day has its part by the clock. Microseconds.
  Day day{};
  std::int64_t device_time = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

}  // namespace espalier::master
