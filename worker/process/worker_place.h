// What of the machine a worker is given, beside its command. Values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace espalier::worker {

struct WorkerPlace {
  // "NAME=value", in the place of what it would inherit under that name.
  std::vector<std::string> variables;
  // On which it and its children run; none: on all that the node manager may use.
  std::vector<int> cores;
  // That each of its processes may allocate; memory beyond that is refused, which trainers say as such. 0: any.
  std::int64_t memory_bytes = 0;
  // A control group that is there and empty, for the worker and all that it starts; it goes with the worker. None: it
  // stays in its node manager's.
  std::filesystem::path control_group;
  // For files that nobody else sees: made for the worker, which finds it as kTemporaryVariable, and it goes with the
  // worker, however that ends. None: it has none but the system's.
  std::filesystem::path temporary;
  friend bool operator==(const WorkerPlace&, const WorkerPlace&) = default;
};

}  // namespace espalier::worker
