// Whose an event is: what must be known of it in case its changes cannot be stored. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "master/core/event.h"
#include "master/core/state/master_state.h"

namespace espalier::master {

struct FromNode {
  std::string server;  // empty: nobody knows whose the stream is
  std::string incarnation;
  bool registers = false;
  std::vector<std::int64_t> reports;  // their numbers
  friend bool operator==(const FromNode&, const FromNode&) = default;
};

// What no one sent.
enum class OwnEvent { kTick, kNodeGone, kRecovered, kCurveAnalysed };

using Origin = std::variant<CallId, FromNode, OwnEvent>;

// `state`: as the event meets it.
Origin OriginOf(const Event& event, const MasterState& state);

// The call that waits for the event's answer; none of events without one.
std::optional<CallId> CallOf(const Event& event);

// For the log: "call 17", "server gpu-1 reports 7 8".
std::string Print(const Origin& origin);

}  // namespace espalier::master
