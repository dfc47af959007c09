// What a worker says that it has held at most.
#include "worker/trainer/peak_memory.h"

#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <optional>
#include <vector>

#include "worker/trainer/spare_memory.h"

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

TEST_CASE("what was let go before a training begins does not count, though large blocks are kept") {
  constexpr int kGigabyte = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kGigabyte);  // as workers are told (worker/process/worker_launch.h)
  mallopt(M_TRIM_THRESHOLD, kGigabyte);
  PeakMemory peak;
  std::optional<std::vector<char>> earlier(std::in_place, kHeld, 1);
  const std::vector<char> behind_it(1 << 16, 1);  // so that it does not lie at the end
  peak.Forget();
  const std::int64_t held = peak.Bytes(Seconds{5});
  if (held == 0) return;  // the system does not tell
  earlier.reset();
  ForgetSpareMemory();
  peak.Forget();
  CHECK(peak.Bytes(Seconds{6}) <= held - static_cast<std::int64_t>(kHeld / 2));
}

}  // namespace
}  // namespace espalier::trainer
