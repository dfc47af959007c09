// Where random tests get their seed: printed, and given back by ESPALIER_TEST_SEED to replay one.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string_view>

namespace espalier {

inline std::uint64_t RandomSeed(std::string_view test) {
  const char* given = std::getenv("ESPALIER_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << test << ": seed " << seed << std::endl;
  return seed;
}

}  // namespace espalier
