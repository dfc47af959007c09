// A slot of this server, and the worker process on it.
//
//   Absent ──> Worker: Describing ──> Ready ──> Killed ──> Absent
//                          └─────────────────────^
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include "worker/node/core/worker_words.h"

namespace espalier::node {

// There is no worker; one is started when its time has come.
struct Absent {
  Seconds respawn_at{0};
  Seconds respawn_delay{0};  // that led to it
};

// Started, and asked what it can train.
struct Describing {
  Seconds since{0};
  Seconds respawn_delay{0};
};

// Trains what it has described.
struct Ready {
  std::set<Digest128> offers;
};

// Told to be killed.
struct Killed {
  Seconds respawn_delay{0};  // for the next one
};

struct Asked {
  RunKey run;
  RequestKind request;
};

struct Worker {
  std::int64_t number = 0;  // never used again
  std::variant<Describing, Ready, Killed> state;
  std::optional<RunKey> run;  // that holds the slot
  std::int64_t next_request = 1;
  std::map<std::int64_t, Asked> asked;  // by request id, until answered
};

using Slot = std::variant<Absent, Worker>;

// How long to wait before the next worker is started if this one dies now: a worker that never got as far as describing
// itself would only do the same again.
Seconds RespawnDelay(const Worker& worker);

// It writes a state, of whatever run.
bool Saves(const Worker& worker);

}  // namespace espalier::node
