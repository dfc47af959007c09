// Policies that let several runs share a device (scheduler/pack_devices.h), in a whole master.
#include "scheduler/pack_devices.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/random_seed.h"
#include "tests/support/server_by_hand.h"
#include "tests/support/without_memory.h"

namespace espalier::master {
namespace {

struct Packed : ServerByHand {
  Packed() : ServerByHand({{"gpu-0", DeviceType::kGpu, 8, 80'000'000'000, 0, 2500}}) {
    policy = MakePackDevices(kHyperSack);
  }

  std::vector<Reservation> Reserved() const {
    std::vector<Reservation> reserved;
    for (const RunId id : state().active_runs) {
      if (RunOf(id).training()) reserved.push_back(RunOf(id).reservation);
    }
    return reserved;
  }
  // It had the GPU for so many thousandths of its time, and so much of its memory.
  void CompleteWith(const Run& run, std::int64_t utilization, std::int64_t bytes) {
    const Point end = PointOf(run, run.path.back().to);
    Store(run, end);
    Measure(run, end);
    const StageUse use{.node = end.node, .device_bytes = bytes, .looks = 10, .utilization = 10 * utilization};
    Report(run, RunEnded{.step = end.step, .stages = {use}, .refused = {}});
  }
};

}  // namespace

TEST_CASE("runs are packed on a GPU once one of their like was watched alone") {
  Packed of;
  for (const char* lr : {"0.1", "0.2", "0.3"}) of.Submit(of.study, {{"lr", lr}}, 10);
  CHECK(of.Reserved() == std::vector{Reservation{0, 2500, 10'000'000'000, 0}});
  of.CompleteWith(of.Last(), 350, 9'000'000'000);
  CHECK(of.Reserved() == std::vector(2, Reservation{0, 350, 135 * (std::int64_t{1} << 26), 0}));
}

TEST_CASE("a run that was out of memory is given more of it beside others") {
  Packed of;
  of.Submit(of.study, {{"lr", "0.1"}}, 10);
  const Run run = of.Last();
  of.Report(run, RunFailed{RunFailed::Kind::kOutOfMemory, PointOf(run, Step{5}), "too large"});
  of.End(run, Step{4});
  REQUIRE(of.Reserved().size() == 1);
  CHECK(of.Reserved()[0].memory_bytes >= 20'000'000'000);
}

TEST_CASE("what packs devices decides the same when its memory is lost before every event") {
  const std::uint64_t seed = RandomSeed("pack_devices_test");
  INFO("seed " << seed);
  for (std::uint64_t each = seed; each < seed + 6; ++each) {
    std::mt19937_64 random(each);
    const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
    const std::string policy = below(2) == 0 ? "hypersack" : "hypersack_first_fit";
    CAPTURE(policy, each);
    std::vector<std::string> trials;
    for (int i = 0; i < 16; ++i) {
      const auto rate = [&] { return "0." + std::to_string(1 + below(3)); };
      trials.push_back("Piecewise([" + rate() + ", " + rate() + "], [" + std::to_string(10 + 20 * below(3)) + "])");
    }
    CheckSameWithoutMemory({.servers = 2, .slots = 3, .policy = policy, .seed = each}, [&](SimulatedService& service) {
      const StudyId study = service.AddStudy({.name = "study"});
      for (const std::string& lr : trials) {
        service.Submit(study, {{"lr", lr}}, 100);
        service.RunFor(Seconds(1));
      }
    });
  }
}

}  // namespace espalier::master
