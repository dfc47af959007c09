// GPUs as the management library tells of them: a small one of the tests' own, opened as the real one is.
#include "worker/node/gpu_library.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_folder.h"
#include "tests/unit/node/process_harness.h"
#include "worker/node/devices.h"
#include "worker/node/gpu_watch.h"

namespace espalier::node {
namespace {

constexpr const char* kLost = "0\nGPU-a 4000 100 30 0 0\nGPU-b 8000 0 0 15 0\n";

// The library, and the file by which the test says what it tells.
struct FakeGpus {
  explicit FakeGpus(const std::string& text) {
    Say(text);
    setenv("FAKE_NVML", File().c_str(), 1);
  }
  ~FakeGpus() { unsetenv("FAKE_NVML"); }

  fs::path File() const { return folder.path() / "gpus"; }
  void Say(const std::string& text) const { std::ofstream(File()) << text; }
  static Result<std::unique_ptr<GpuLibrary>> Open() { return GpuLibrary::Open(ESPALIER_FAKE_NVML); }

  TemporaryFolder folder;
};

std::vector<std::string> Uuids(const std::vector<Gpu>& gpus) {
  std::vector<std::string> uuids;
  for (const Gpu& gpu : gpus) uuids.push_back(gpu.uuid);
  return uuids;
}

std::string WhyNot(const Result<GpuUse>& use) { return use.has_value() ? "" : use.error().message; }

// What the watch sees of the GPUs, by device.
GpuWatch::Seen Look(GpuWatch& watch, LoopQueue& queue, const std::map<int, std::string>& gpus) {
  std::optional<GpuWatch::Seen> seen;
  watch.Look(gpus, [&](const GpuWatch::Seen& all) { seen = all; });
  REQUIRE(Eventually([&] {
    queue.RunAll();
    return seen.has_value();
  }));
  return *seen;
}

}  // namespace

TEST_CASE("GPUs are found with their memory, but for those that fail or are cut into instances") {
  const FakeGpus fake("0\nGPU-a 4000 100 30 0 0\nGPU-b 8000 0 0 15 0\nGPU-c 8000 0 0 0 1\nGPU-d 8000 0 0 0 0\n");
  const std::vector<Gpu> gpus = fake.Open().value()->Gpus();
  CHECK(Uuids(gpus) == std::vector<std::string>{"GPU-a", "GPU-d"});
  CHECK(CapacitiesOf(DevicesOf(gpus)) ==
        std::vector<Device>{{"gpu-0", DeviceType::kGpu, 1, 4000, 0}, {"gpu-1", DeviceType::kGpu, 1, 8000, 0}});
  CHECK(DevicesOf(gpus)[1].gpus == "GPU-d");
  CHECK(gpus[1].number == 3);
}

TEST_CASE("a GPU is named by its number or its uuid, and of several the mean utilization and all memory count") {
  const FakeGpus fake("0\nGPU-a 4000 100 30 0 0\nGPU-b 8000 700 100 0 0\n");
  const auto library = fake.Open().value();
  CHECK(library->UseOf("0").value() == GpuUse{300, 100});
  CHECK(library->UseOf("GPU-b").value() == GpuUse{1000, 700});
  CHECK(library->UseOf("0,1").value() == GpuUse{650, 800});
  CHECK(WhyNot(library->UseOf("2")) == "finding it: Not Found");
  CHECK(WhyNot(library->UseOf("GPU-x")) == "finding it: Not Found");
  CHECK(WhyNot(library->UseOf("")) == "no GPU is named");
  fake.Say(kLost);
  CHECK(WhyNot(library->UseOf("1")) == "its utilization: GPU is lost");
  CHECK(WhyNot(library->UseOf("0,1")) == "its utilization: GPU is lost");
}

TEST_CASE("a library that is not there, is another one or finds no driver is not opened, and says why") {
  const auto why = [](const Result<std::unique_ptr<GpuLibrary>>& library) {
    return library.has_value() ? "" : library.error().message;
  };
  CHECK(why(GpuLibrary::Open("/nowhere/libnvidia-ml.so.1")).find("/nowhere/libnvidia-ml.so.1") == 0);
  CHECK(why(GpuLibrary::Open("libm.so.6")) == "libm.so.6 has no nvmlInit_v2");
  const FakeGpus fake("9\n");
  CHECK(why(fake.Open()).ends_with(": Driver Not Loaded"));
}

TEST_CASE("a GPU that is lost is seen no more, the others are, and it is when it is back") {
  const FakeGpus fake(kLost);
  LoopQueue queue;
  GpuWatch watch(fake.Open().value(), queue);
  const std::map<int, std::string> devices{{2, "GPU-a"}, {5, "GPU-b"}};
  CHECK(Look(watch, queue, devices) == GpuWatch::Seen{{2, {300, 100}}});
  fake.Say("0\nGPU-a 4000 100 30 0 0\nGPU-b 8000 50 20 0 0\n");
  CHECK(Look(watch, queue, devices) == GpuWatch::Seen{{2, {300, 100}}, {5, {200, 50}}});
}

TEST_CASE("without a library nothing is looked at") {
  LoopQueue queue;
  GpuWatch watch(nullptr, queue);
  watch.Look({{0, "0"}}, [](const GpuWatch::Seen&) { FAIL("something was seen"); });
  queue.RunAll();
}

TEST_CASE("found GPUs are those that CUDA_VISIBLE_DEVICES leaves, in its order") {
  const std::vector<Gpu> all{{0, "GPU-a1"}, {1, "GPU-b2"}, {3, "GPU-c3"}};
  CHECK(Uuids(VisibleGpus(all, std::nullopt)) == std::vector<std::string>{"GPU-a1", "GPU-b2", "GPU-c3"});
  CHECK(Uuids(VisibleGpus(all, "3,GPU-a")) == std::vector<std::string>{"GPU-c3", "GPU-a1"});
  CHECK(Uuids(VisibleGpus(all, "1,2,3")) == std::vector<std::string>{"GPU-b2"});
  CHECK(VisibleGpus(all, "").empty());
}

}  // namespace espalier::node
