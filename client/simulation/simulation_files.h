// What `espalier simulate` reads besides study files: the servers that it simulates, and when whose studies come.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/units.h"
#include "client/study_file/study_file.h"
#include "sim/node_process.h"

namespace espalier {

inline constexpr int kSimulatedServersMax = 10'000;
inline constexpr int kSimulatedGpusMax = 64;

// A list in YAML, such as
//   - {slots: 8}                        # a server
//   - {slots: 4, speed: 2, count: 3}    # three, whose slots train twice as fast
//   - {slots: 8, gpus: 4, compute_thousandths: 2500, memory_bytes: 80e9}   # four GPUs of as many slots each
//   - {slots: 4, price: 12.5}           # what an hour of it costs, all of its slots together
// One server at least, and at most kSimulatedServersMax; each device has 1 to sim::kSimulatedSlotsMax slots, each
// server at most kSimulatedGpusMax GPUs. What runs may take together of one is as in a node manager's configuration.
// Prices are from 0 to 1e9, in whatever money.
tl::expected<std::vector<sim::SimulatedServer>, FileError> ReadServers(const std::string& path);
tl::expected<std::vector<sim::SimulatedServer>, FileError> ParseServers(const std::string& path,
                                                                        const std::string& text);

// When a study comes, and whose it is.
struct Arrival {
  Seconds after{0};  // the beginning of the simulation
  std::optional<std::string> team;
};

// A mapping in YAML from studies' names to times, such as
//   first: 30m                          # after the simulation begins
//   second: {after: 1h, team: vision}   # either may be left out
// A study that is not there comes at its beginning. `studies`: all names that there are.
tl::expected<std::map<std::string, Arrival>, FileError> ReadArrivals(const std::string& path,
                                                                     const std::vector<std::string>& studies);
tl::expected<std::map<std::string, Arrival>, FileError> ParseArrivals(const std::string& path, const std::string& text,
                                                                      const std::vector<std::string>& studies);

}  // namespace espalier
