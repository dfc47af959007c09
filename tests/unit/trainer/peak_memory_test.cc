// What a worker says that it has held at most.
#include "worker/trainer/peak_memory.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <vector>

namespace espalier::trainer {
namespace {

constexpr std::size_t kHeld = 64 << 20;

TEST_CASE("the peak is looked at again after ten milliseconds, and at once when another training begins") {
  PeakMemory peak;
  peak.Forget();
  const std::int64_t before = peak.Bytes(Seconds{5});
  if (before == 0) return;  // the system does not tell
  const std::vector<char> held(kHeld, 1);
  const auto grown = before + static_cast<std::int64_t>(kHeld / 2);
  CHECK(peak.Bytes(Seconds{5.009}) == before);
  SECTION("later") { CHECK(peak.Bytes(Seconds{5.011}) >= grown); }
  SECTION("another training") {
    peak.Forget();
    CHECK(peak.Bytes(Seconds{5.009}) >= grown);
  }
}

}  // namespace
}  // namespace espalier::trainer
