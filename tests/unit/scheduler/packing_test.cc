// Several jobs on a device, by HyperSack's rules.
#include "scheduler/packing.h"

#include <catch2/catch.hpp>
#include <string>

namespace espalier {
namespace {

constexpr std::int64_t kPackedGigabyte = 1'000'000'000;

// "a0 b1 c-": the devices of jobs a, b, c; `-`: none.
std::string Printed(const std::vector<std::optional<std::size_t>>& placed, std::string_view names) {
  std::string text;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    text += (text.empty() ? "" : " ") + std::string(1, names[i]) + (placed[i] ? std::to_string(*placed[i]) : "-");
  }
  return text;
}

}  // namespace

TEST_CASE("jobs are packed by first fit and worst fit, as they come or the longest first") {
  const std::vector<PackingDevice> devices(2, {.compute = 1000, .memory_bytes = kPackedGigabyte});
  std::vector<PackingJob> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back({{{500 - 50 * i, 1}}, 0, Seconds(10 * (i + 1))});
  const auto packed = [&](PackingRule rule, bool by_time) {
    return Printed(Pack(jobs, devices, {0}, {rule, by_time}), "abcde");
  };
  CHECK(packed(PackingRule::kFirstFit, false) == "a0 b0 c1 d1 e-");
  CHECK(packed(PackingRule::kFirstFit, true) == "a- b1 c1 d0 e0");
  CHECK(packed(PackingRule::kWorstFit, false) == "a1 b0 c0 d1 e-");
  CHECK(packed(PackingRule::kWorstFit, true) == "a- b0 c1 d0 e1");
}

TEST_CASE("jobs take of each kind of device what they take of that kind, and cores of its host") {
  const std::vector<PackingDevice> devices{
      {0, 0, 2000, 80 * kPackedGigabyte}, {0, 0, 2000, 80 * kGigabyte}, {1, 1, 1500, 80 * kGigabyte}};
  const auto job = [](std::int64_t on_a, std::int64_t on_h, std::int64_t gigabytes, std::int64_t cores) {
    return PackingJob{{{on_a, gigabytes * kPackedGigabyte}, {on_h, gigabytes * kGigabyte}}, cores};
  };
  const std::vector<PackingJob> jobs{job(600, 400, 20, 4), job(600, 400, 50, 4), job(600, 400, 20, 8),
                                     job(600, 400, 20, 2), job(200, 100, 60, 2)};
  CHECK(Printed(Pack(jobs, devices, {14, 8}, {PackingRule::kFirstFit, false}), "pqrst") == "p0 q0 r2 s1 t1");
  CHECK(Printed(Pack(jobs, devices, {14, 8}, {PackingRule::kWorstFit, false}), "pqrst") == "p1 q0 r2 s1 t-");
}

TEST_CASE("the last job on a device can be the one that fills it best") {
  const std::vector<PackingDevice> devices(2, {.compute = 1000, .memory_bytes = kPackedGigabyte});
  std::vector<PackingJob> jobs;
  for (const int compute : {600, 600, 300, 250, 400, 350}) jobs.push_back({{{compute, 1}}, 0, Seconds(1)});
  const auto packed = [&](bool fills) {
    return Printed(Pack(jobs, devices, {0}, {PackingRule::kWorstFit, true, fills}), "abcdef");
  };
  CHECK(packed(false) == "a1 b0 c1 d0 e- f-");
  CHECK(packed(true) == "a1 b0 c- d- e1 f0");
}

}  // namespace espalier
