// What users have given the service of their own code. Kept after the last study that ran by it has finished, for that
// may be gone on from, until its user brings more than is kept of one.
#pragma once

#include <cstddef>
#include <string>

#include "base/units.h"

namespace espalier::master {

// Code as it travels to servers, known by its content.
struct Archive {
  std::string bytes;
  std::string user;  // who put it first
  Time put_at{};
  friend bool operator==(const Archive&, const Archive&) = default;
};

// Of one user's archives together: the master holds them in memory. Beyond it the oldest go that nobody asks for and no
// running study needs.
inline constexpr std::size_t kArchivesOfUserBytesMax = std::size_t{256} << 20;

// How long a reference is described to servers after somebody has asked for it, unless a study runs by it.
inline constexpr Seconds kAskedFor{600};

}  // namespace espalier::master
