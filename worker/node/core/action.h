// What the core wants done on this machine. The node manager does it in this order and tells the core what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "protocol/report.h"
#include "worker/node/core/worker_words.h"

namespace espalier::node {

// Start a worker of the runtime for the slot, with what is reserved there, by a number never used again; answered by
// WorkerDied when it ends or cannot be started.
struct SpawnWorker {
  int slot = 0;
  std::int64_t worker = 0;
  std::string runtime;
  Reservation reservation;
};

// Answered by WorkerReplied.
struct SendRequest {
  int slot = 0;
  std::int64_t worker = 0;
  WorkerRequest request;
};

// Answered by WorkerDied.
struct KillWorker {
  int slot = 0;
  std::int64_t worker = 0;
};

// Find the file in the store and check that it is whole and holds this state; answered by CheckpointFetched. What was
// found is kept readable until it is released.
struct FetchCheckpoint {
  RunKey run;
  std::string file;
  std::string state_sha256;
};

// The file that was fetched for the run is read by nobody any more.
struct ReleaseCheckpoint {
  RunKey run;
};

// Check that a staged file is whole and what the worker has said of it, and put it into the store under state.file;
// answered by UploadFinished.
struct UploadFile {
  std::int64_t upload = 0;
  std::string staged;
  RunKey run;
  StateStored state;
};

struct RemoveFromStore {
  std::string name;
};

// A staged file, and its temporary one.
struct DeleteStaged {
  std::string path;
};

// Note the run's plan nodes, so that a later incarnation can make sense of its step log.
struct RecordRun {
  RunKey run;
  std::vector<PathStage> path;
};

// Read the run's step log from `offset`; answered by StepLogRead before any later event.
struct ReadStepLog {
  RunKey run;
  std::int64_t offset = 0;
};

// The record and the step log are not needed any more.
struct ForgetRun {
  RunKey run;
};

// Get the reference's code from the master, if this server may run it, and make a runtime of it that is called as the
// digest; answered by ReferenceFetched.
struct FetchReference {
  Digest128 reference;
};

// No worker of it lives, and none will be started.
struct ForgetReference {
  Digest128 reference;
};

// Start the check of the runtime's trainer that has this offer, by a number never used again, on the slot with what is
// reserved there, and give it the request; answered by CheckEnded.
struct StartCheck {
  int slot = 0;
  std::int64_t process = 0;
  std::string runtime;
  Reservation reservation;
  Digest128 offer;
  Init init;
};

// Answered by CheckEnded.
struct KillCheck {
  std::int64_t process = 0;
};

// Everything is done that SIGTERM asked for.
struct Quit {};

using Action = std::variant<SpawnWorker, SendRequest, KillWorker, FetchCheckpoint, ReleaseCheckpoint, UploadFile,
                            RemoveFromStore, DeleteStaged, RecordRun, ReadStepLog, ForgetRun, FetchReference,
                            ForgetReference, StartCheck, KillCheck, Quit>;
using Actions = std::vector<Action>;

}  // namespace espalier::node
