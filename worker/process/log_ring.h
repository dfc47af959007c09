// A worker's log, and those that were begun before it: LOG, LOG.1, LOG.2, LOG.3, the newest first; there are no more.
#pragma once

#include <cstdint>
#include <filesystem>

namespace espalier::worker {

inline constexpr int kPastLogs = 3;

// LOG becomes LOG.1, and so on. What cannot be moved stays.
void PutLogAside(const std::filesystem::path& log);

// The same while somebody appends to LOG, which is emptied if it has more than `bytes_max` bytes: what is written
// between the copy and that is lost. Whether it was. O(bytes of LOG) then.
bool PutOpenLogAside(const std::filesystem::path& log, std::uintmax_t bytes_max);

}  // namespace espalier::worker
