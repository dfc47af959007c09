#include "worker/script/device.h"

#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/processor.h"

namespace espalier::script {
namespace {

namespace fs = std::filesystem;

constexpr char kModel[] = "Model:";

// As NVIDIA's driver calls the machine's GPUs, each model once.
std::set<std::string> GpuModels() {
  std::set<std::string> models;
  std::error_code error;
  for (fs::directory_iterator at("/proc/driver/nvidia/gpus", error), end; !error && at != end; at.increment(error)) {
    std::ifstream information(at->path() / "information");
    for (std::string line; std::getline(information, line);) {
      if (line.starts_with(kModel)) models.insert(AsWord(line.substr(sizeof(kModel) - 1)));
    }
  }
  return models;
}

// What libraries of mathematics choose their ways by.
std::string CpuCapability() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") != 0) return " avx512";
  if (__builtin_cpu_supports("avx2") != 0) return " avx2";
#endif
  return "";
}

}  // namespace

std::string DeviceKind(const std::string& gpus, int thread_count, const std::string& said) {
  utsname machine{};
  uname(&machine);
  std::string kind = std::string("cpu ") + machine.machine;
  if (gpus.empty()) {
    const std::string processor = Processor();
    if (!processor.empty()) kind += " " + processor;
  } else {
    std::string models;
    for (const std::string& model : GpuModels()) models += model + " ";
    kind = "cuda " + models + kind;
  }
  kind += CpuCapability() + " threads-" + std::to_string(thread_count);
  return said.empty() ? kind : kind + " " + said;
}

}  // namespace espalier::script
