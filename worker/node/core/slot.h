// A slot of this server, and the worker processes on it: at most one of each runtime, all with one reservation. One of
// them trains the run that holds the slot; others are kept warm, as long as what they have reserved of the device is
// left beside what runs have.
//
//   Absent ──> Worker: Describing ──> Ready ──> Retired ──> Killed ──> Absent
//                          └──────────────└──────────────────^
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "worker/node/core/standing.h"
#include "worker/node/core/worker_words.h"

namespace espalier::node {

// There is no worker; one is not started before its time has come.
struct Absent {
  Seconds respawn_at{0};
  Seconds respawn_delay{0};  // that led to it
};

// Started, and asked what it can train.
struct Describing {
  Seconds heard_at{0};  // or started
  Seconds respawn_delay{0};
};

// Trains what it has described.
struct Ready {
  std::set<Digest128> offers;
  bool proceeds = false;   // can be asked to Proceed
  bool reloads = false;    // and can Load after steps
  bool stretches = false;  // trains many steps at one go
  Seconds start_time{0};   // that it took until it had described itself
};

// It has said that it is unusable: asked for nothing more, and killed once it has written what it is writing.
struct Retired {
  Seconds patience_ends{0};
};

// Told to be killed.
struct Killed {
  Seconds respawn_delay{0};  // for the next one
  bool was_retired = false;
};

struct Asked {
  RunKey run;
  RequestKind request;
};

struct Worker {
  std::int64_t number = 0;  // never used again
  std::variant<Describing, Ready, Retired, Killed> state;
  Seconds used_at{0};  // when it was started, or last given a run
  std::int64_t next_request = 1;
  std::map<std::int64_t, Asked> asked;  // by request id, until answered
  std::optional<Standing> standing;     // what the last run has left in it, while it is whole
};

using Seat = std::variant<Absent, Worker>;

struct Slot {
  std::map<std::string, Seat> seats;  // by runtime
  Reservation reservation;            // that all its workers have: they end before there is another
  std::optional<RunKey> run;          // that holds the slot
  std::string runtime;  // whose worker is kept warm whatever happens: of the last run, or the first of all
};

// The run that had the worker has left it so. Of no use to a worker that cannot proceed.
void NoteLeft(Worker& worker, std::optional<Standing> standing);

// Whether the worker has said that it can do that.
bool Has(const Description& description, const std::string& capability);

// How long to wait before the next worker is started if this one dies now: a worker that never got as far as describing
// itself would only do the same again.
Seconds RespawnDelay(const Worker& worker);

// Some worker on the slot has trained, or may be about to: it may hold memory of its device.
bool MayHoldMemory(const Slot& slot);

// It writes a state, of whatever run.
bool Saves(const Worker& worker);

// The runtime whose worker on the slot has the number; null if that one is gone.
const std::string* RuntimeOf(const Slot& slot, std::int64_t number);

// Null if the slot has none of that runtime.
Worker* WorkerOn(Slot& slot, const std::string& runtime);

}  // namespace espalier::node
