// How often a test repeats what it draws at random.
#pragma once

namespace espalier {

// Of `count`, which is at least 1, what a build affords: all of it, or a fifth where the address sanitizer makes each
// round take ten times as long. It finds in few rounds what it finds at all: the laws are proved by the other builds.
constexpr int Rounds(int count) {
#ifdef __SANITIZE_ADDRESS__
  return (count + 4) / 5;
#else
  return count;
#endif
}

}  // namespace espalier
