// A libnvidia-ml.so.1 without GPUs: it tells what the file in the environment's FAKE_NVML says at each call. Its first
// line is what initializing gives; each other a GPU: uuid, bytes of memory, bytes in use, percent of utilization, what
// asking for its use gives, 1 if it is cut into instances. Numbers of errors are NVML's.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0;
constexpr int kUnknownError = 999;
constexpr int kNotFound = 6;

struct FakeGpu {
  std::string uuid;
  unsigned long long total = 0;
  unsigned long long used = 0;
  unsigned int percent = 0;
  int status = kSuccess;
  unsigned int is_cut = 0;
};

struct Fake {
  int status = kUnknownError;
  std::vector<FakeGpu> gpus;
};

Fake Read() {
  Fake fake;
  std::ifstream file(std::getenv("FAKE_NVML") == nullptr ? "" : std::getenv("FAKE_NVML"));
  std::string line;
  if (std::getline(file, line)) fake.status = std::stoi(line);
  while (std::getline(file, line)) {
    FakeGpu gpu;
    std::istringstream(line) >> gpu.uuid >> gpu.total >> gpu.used >> gpu.percent >> gpu.status >> gpu.is_cut;
    fake.gpus.push_back(gpu);
  }
  return fake;
}

// A handle is a place in the file, from 1 on.
FakeGpu Of(void* handle) {
  const std::vector<FakeGpu> gpus = Read().gpus;
  const auto place = reinterpret_cast<std::size_t>(handle);
  return place > gpus.size() ? FakeGpu{.status = kNotFound} : gpus[place - 1];
}

}  // namespace

// As nvml.h declares them.
extern "C" {

struct FakeMemory {
  unsigned long long total, free, used;
};
struct FakeUtilization {
  unsigned int gpu, memory;
};

int nvmlInit_v2() { return Read().status; }
int nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(int status) {
  switch (status) {
    case kNotFound:
      return "Not Found";
    case 9:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned int>(Read().gpus.size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** handle) {
  if (index >= Read().gpus.size()) return kNotFound;
  *handle = reinterpret_cast<void*>(std::size_t{index} + 1);
  return kSuccess;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle) {
  const std::vector<FakeGpu> gpus = Read().gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (gpus[i].uuid == uuid) return nvmlDeviceGetHandleByIndex_v2(static_cast<unsigned int>(i), handle);
  }
  return kNotFound;
}

int nvmlDeviceGetUUID(void* handle, char* uuid, unsigned int length) {
  std::strncpy(uuid, Of(handle).uuid.c_str(), length);
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(void* handle, FakeMemory* memory) {
  const FakeGpu gpu = Of(handle);
  *memory = {gpu.total, gpu.total - gpu.used, gpu.used};
  return gpu.status;
}

int nvmlDeviceGetUtilizationRates(void* handle, FakeUtilization* utilization) {
  const FakeGpu gpu = Of(handle);
  *utilization = {gpu.percent, 0};
  return gpu.status;
}

int nvmlDeviceGetMigMode(void* handle, unsigned int* is_cut, unsigned int* will_be) {
  *is_cut = *will_be = Of(handle).is_cut;
  return kSuccess;
}

}  // extern "C"
