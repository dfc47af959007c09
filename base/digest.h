// Digests: 128 bits (xxh3) to recognise sequences, configurations and lineages; SHA-256 for states and files.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace espalier {

struct Digest128 {
  std::array<std::uint8_t, 16> bytes{};
  friend auto operator<=>(const Digest128&, const Digest128&) = default;
};

// The same bytes give the same digest on every machine and in every release.
Digest128 DigestOf(std::string_view bytes);

// 32 lower-case hexadecimal digits, and back. Error: kInvalidArgument.
std::string ToHex(const Digest128& digest);
Result<Digest128> ParseDigest128(std::string_view hex);

// SHA-256, fed in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view bytes);
  // 64 lower-case hexadecimal digits. REQUIRES: called once, nothing is fed after it.
  std::string FinishHex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace espalier

template <>
struct std::hash<espalier::Digest128> {
  std::size_t operator()(const espalier::Digest128& digest) const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < sizeof(value); ++i) value = (value << 8) | digest.bytes[i];
    return value;
  }
};
