// All that a worker is given before there is a process of it, and how one becomes it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/process/handle.h"
#include "worker/process/worker_place.h"

namespace espalier::worker {

// With it a step that makes large tensors and lets them go takes up to a third less: glibc asks for huge pages, where
// the system gives them to who asks, and keeps blocks of up to a gigabyte for the next ones, which would else be fresh
// memory that the system clears first.
inline constexpr const char* kMemorySettings =
    "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold="
    "1073741824";

// Python's sets and hashes are the same in every process with it alone. What a study's own `environment` says is set
// behind it.
inline constexpr const char* kHashSeed = "PYTHONHASHSEED=0";

// The variable of the environment that names the folder of its place for temporary files.
inline constexpr char kTemporaryVariable[] = "ESPALIER_TEMPORARY";

struct WorkerLaunch {
  std::vector<std::string> command;  // to which "--fd N" is added
  std::string mark;                  // of its family
  WorkerPlace place;                 // its variables say where its temporary files go, too
  Handle our_socket;                 // non-blocking reads and writes are the channel's doing
  Handle worker_socket;              // the other end
  Handle log;
  Handle group;  // its control group's list of processes; none: it has no group, or cannot enter it
};

// Begins the log afresh; those before are kept beside it (log_ring.h). A control group that cannot be entered it does
// without, saying so in its log. Error: kResourceExhausted when the system gives no socket, kInternal when there can be
// no log, or no folder for temporary files.
Result<WorkerLaunch> PrepareLaunch(const std::vector<std::string>& command, const std::filesystem::path& log,
                                   const std::string& mark, const WorkerPlace& place);

// A child that runs the command, and leads a process group of its own. A program that cannot be run ends at once,
// saying so in its log. Error: kResourceExhausted. Cost: a fork, a quarter of a millisecond; entering a control group
// takes the child some milliseconds at most, and this process next to nothing.
Result<pid_t> Execute(const WorkerLaunch& launch);

}  // namespace espalier::worker
