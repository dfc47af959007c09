#include "worker/trainer/data/draws.h"

namespace espalier::trainer {

std::uint64_t Draws::Next() {
  counter_ += 0x9e3779b97f4a7c15;
  std::uint64_t bits = counter_;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

std::uint64_t Draws::NextBelow(std::uint64_t bound) {
  const std::uint64_t rest = -bound % bound;  // 2^64 modulo bound: so many draws would be too many of the low values
  std::uint64_t bits = Next();
  while (bits < rest) bits = Next();
  return bits % bound;
}

double Draws::NextShare() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

// Each number is scattered before the next is added, so that (seed, epoch) and (seed + 1, epoch - 1) are unlike.
Draws DrawsOfOrder(std::uint64_t seed, std::int64_t epoch) {
  return Draws(Draws(Draws(seed).Next() + static_cast<std::uint64_t>(epoch)).Next());
}

Draws DrawsOfSample(const SamplePlace& place) {
  Draws of_seed(place.seed);
  of_seed.Next();  // the order's
  Draws of_epoch(of_seed.Next() + static_cast<std::uint64_t>(place.epoch));
  Draws of_position(of_epoch.Next() + static_cast<std::uint64_t>(place.position));
  return Draws(of_position.Next());
}

}  // namespace espalier::trainer
