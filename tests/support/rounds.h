// How often a test repeats what it draws at random.
#pragma once

#ifndef __has_feature  // GCC's name for it is another, but the address sanitizer's build is clang's
#define __has_feature(name) 0
#endif

namespace espalier {

// Of `count`, which is at least 1, what a build affords: all of it, or a fifth where the address sanitizer makes each
// round take ten times as long. It finds in few rounds what it finds at all: the laws are proved by the other builds.
constexpr int Rounds(int count) {
#if __has_feature(address_sanitizer)
  return (count + 4) / 5;
#else
  return count;
#endif
}

}  // namespace espalier
