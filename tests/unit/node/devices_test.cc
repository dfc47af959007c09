// What a slot's workers are given of the machine, and that they get it.
#include "worker/node/devices.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "tests/unit/node/process_harness.h"
#include "worker/node/config.h"
#include "worker/process/worker_family.h"
#include "worker/process/worker_process.h"

namespace espalier::node {
namespace {

bool Has(const worker::WorkerPlace& place, const std::string& variable) {
  return std::find(place.variables.begin(), place.variables.end(), variable) != place.variables.end();
}

// What a shell prints that is started there.
std::string Printed(const worker::WorkerPlace& place, const std::string& script) {
  TemporaryFolder folder;
  auto worker = worker::WorkerProcess::Start({"/bin/sh", "-c", script, "worker"}, folder.path() / "log",
                                             worker::FamilyMark(folder.path(), 1), place)
                    .value();
  REQUIRE(Eventually([&] { return worker->HasEnded(); }));
  std::ostringstream text;
  text << std::ifstream(folder.path() / "log").rdbuf();
  return text.str();
}

Result<Config> Configured(const std::string& lines) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "node.textproto";
  std::ofstream(file) << "master_address: 'unix:/m'\nserver: 's'\ncheckpoint_directory: '/c'\nwork_directory: '/w'\n"
                      << "runtimes { name: 'r' command: 'x' }\n"
                      << lines;
  return ReadConfig(file);
}

}  // namespace

TEST_CASE("sets of cores are read as Linux writes them") {
  CHECK(ParseCores("").value().empty());
  CHECK(ParseCores("0-3,8").value() == std::vector{0, 1, 2, 3, 8});
  CHECK(ParseCores("5,1-2,2").value() == std::vector{1, 2, 5});
  for (const char* text : {"a", "3-1", "-1", "1,,2", "1-", "99999999"}) CHECK_FALSE(ParseCores(text).has_value());
}

TEST_CASE("slots are equal shares of their device") {
  const std::vector<LocalDevice> devices{
      {.capacity = {"a", DeviceType::kGpu, 2, 1000, 5}, .gpus = "0", .cores = {0, 1, 2, 3, 4}, .memory_bytes = 7},
      {.capacity = {"b", DeviceType::kGpu, 2, 0, 1}, .gpus = "GPU-1", .cores = {9}, .threads = 4},
      {.capacity = {.name = "c"}, .gpus = {}, .cores = {}}};
  std::vector<worker::WorkerPlace> places;
  for (int slot = 0; slot < 5; ++slot) {
    places.push_back(PlaceOf(devices, slot, ShareOf(CapacitiesOf(devices), slot)));
  }
  CHECK(places[0].cores == std::vector{0, 1});
  CHECK(places[1].cores == std::vector{2, 3, 4});
  CHECK(places[2].cores == std::vector{9});
  CHECK(places[3].cores == std::vector{9});
  CHECK(places[4].cores.empty());
  CHECK(places[0].memory_bytes == 7);
  CHECK(Has(places[1], "CUDA_VISIBLE_DEVICES=0"));
  CHECK(Has(places[2], "CUDA_VISIBLE_DEVICES=GPU-1"));
  CHECK(Has(places[2], "OMP_NUM_THREADS=4"));
  CHECK(Has(places[4], "ESPALIER_THREADS=1"));
  CHECK(Has(places[4], "CUBLAS_WORKSPACE_CONFIG=:4096:8"));
}

TEST_CASE("a worker with several shares has as many times the cores and the memory, and no other threads") {
  const std::vector<LocalDevice> devices{
      {.capacity = {"a", DeviceType::kCores, 4, 4000, 4},
       .gpus = {},
       .cores = {3, 4, 5, 6},
       .threads = 2,
       .memory_bytes = 1000},
      {.capacity = {"b", DeviceType::kGpu, 2, 64, 0}, .gpus = "0", .cores = {}, .memory_bytes = 7}};
  const std::vector<Device> capacities = CapacitiesOf(devices);
  const worker::WorkerPlace two = PlaceOf(devices, 1, SharesOf(capacities[0], 0, 2));
  CHECK(two.cores == std::vector{4, 5});
  CHECK(two.memory_bytes == 2000);
  CHECK(PlaceOf(devices, 3, SharesOf(capacities[0], 0, 2)).cores == std::vector{3, 6});
  CHECK(two.variables == PlaceOf(devices, 0, ShareOf(capacities, 0)).variables);
  CHECK(PlaceOf(devices, 4, SharesOf(capacities[1], 1, 2)).memory_bytes == 14);  // the server's, not the GPU's
}

TEST_CASE("a worker gets its variables, its cores and its limit of memory, and its children too") {
  const std::vector<int> core = ParseCores("0").value();
  setenv("OMP_NUM_THREADS", "77", 1);
  const std::string printed =
      Printed({.variables = {"OMP_NUM_THREADS=3", "CUDA_VISIBLE_DEVICES="}, .cores = core, .memory_bytes = 512 << 20},
              "echo $OMP_NUM_THREADS ${CUDA_VISIBLE_DEVICES-unset}; ulimit -d; "
              "env | grep -c OMP_NUM_THREADS; grep Cpus_allowed_list /proc/self/status");
  unsetenv("OMP_NUM_THREADS");
  CHECK(printed == "3\n524288\n1\nCpus_allowed_list:\t0\n");
}

TEST_CASE("a worker asks for huge pages and keeps large blocks, unless its server says something else") {
  CHECK(Printed({}, "echo $GLIBC_TUNABLES") ==
        "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824\n");
  CHECK(Printed({.variables = {"GLIBC_TUNABLES="}}, "echo $GLIBC_TUNABLES") == "\n");
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=0", 1);
  const std::string inherited = Printed({}, "echo $GLIBC_TUNABLES");
  unsetenv("GLIBC_TUNABLES");
  CHECK(inherited == "glibc.malloc.hugetlb=0\n");
}

TEST_CASE(
    "Python hashes alike in all workers, whatever the server's environment says, unless the worker's own says so") {
  CHECK(Printed({}, "echo $PYTHONHASHSEED") == "0\n");
  setenv("PYTHONHASHSEED", "random", 1);
  const std::string inherited = Printed({}, "echo $PYTHONHASHSEED");
  const std::string given = Printed({}, "exec /usr/bin/env PYTHONHASHSEED=5 /bin/sh -c 'echo $PYTHONHASHSEED'");
  unsetenv("PYTHONHASHSEED");
  CHECK(inherited == "0\n");
  CHECK(given == "5\n");
}

TEST_CASE("a server's devices make its slots") {
  const Config plain = Configured("slot_count: 3").value();
  CHECK(CapacitiesOf(plain.devices) == std::vector<Device>{{.name = "cores-0", .slots = 3}});
  CHECK(plain.host_cores >= 1);
  CHECK(plain.host_memory_bytes > 0);
  const Config config = Configured(
                            "devices { gpus: '0' slots: 2 memory_bytes: 1000 gpu_memory_bytes: 64 }\n"
                            "devices { name: 'rest' gpus: '' cores: '0-1' slots: 2 threads: 2 memory_bytes: 10 }")
                            .value();
  const std::vector<Device> capacities = CapacitiesOf(config.devices);
  CHECK(capacities ==
        std::vector<Device>{{"gpu-0", DeviceType::kGpu, 2, 64, 0}, {"rest", DeviceType::kCores, 2, 20, 2}});
  const auto place = [&](int slot) { return PlaceOf(config.devices, slot, ShareOf(capacities, slot)); };
  CHECK(Has(place(1), "CUDA_VISIBLE_DEVICES=0"));
  CHECK(place(1).memory_bytes == 1000);
  CHECK(Has(place(2), "CUDA_VISIBLE_DEVICES="));
  CHECK(place(3).cores == std::vector{1});
  CHECK(place(3).memory_bytes == 10);
  CHECK(Configured("slot_count: 2 devices { slots: 2 }").has_value());
  for (const char* wrong : {"slot_count: 3 devices { slots: 2 }", "devices { slots: -1 }", "devices { threads: -1 }",
                            "devices { memory_bytes: -1 }", "devices { cores: 'x' }", "devices { slots: 1001 }",
                            "slot_count: 1001", "devices { gpus: '0' gpu_memory_bytes: -1 }",
                            "devices { gpu_memory_bytes: 1 }", "devices { name: 'a' } devices { name: 'a' }"}) {
    INFO(wrong);
    CHECK_FALSE(Configured(wrong).has_value());
  }
}

}  // namespace espalier::node
