// What users have given the service of their own code. Kept for good: studies were created from it, and may be gone on
// from.
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

// Of one user's archives together: the master holds them in memory.
inline constexpr std::size_t kArchivesOfUserBytesMax = std::size_t{256} << 20;

// How long a reference is described to servers after somebody has asked for it, unless a study runs by it.
inline constexpr Seconds kAskedFor{600};

}  // namespace espalier::master
