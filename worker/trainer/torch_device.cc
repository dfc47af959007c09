#include "worker/trainer/torch_device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <torch/version.h>

#include <array>

#include "base/processor.h"
#include "worker/trainer/models/placement.h"

namespace espalier::trainer {
namespace {

// A function of a library that may or may not be loaded; null if it is not.
template <class Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// The word that follows `label` in LibTorch's description of itself; empty if there is none.
std::string WordAfter(const std::string& description, const std::string& label) {
  const std::size_t at = description.find(label);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + label.size();
  return description.substr(begin, description.find_first_of(" ,\n", begin) - begin);
}

// LibTorch's matrix products go through this library, which picks its kernels by the CPU.
std::string MatrixLibrary() {
  auto* const config = Find<char*()>("openblas_get_config");
  auto* const core = Find<char*()>("openblas_get_corename");
  if (config != nullptr && core != nullptr) {
    const std::string version = WordAfter(config(), "OpenBLAS ");
    return "openblas-" + version + "-" + AsWord(core());
  }
  const std::string name = AsWord(WordAfter(at::show_config(), "BLAS_INFO="));
  return name.empty() ? "blas" : name;
}

// As its driver calls it, which LibTorch has loaded for itself alone.
std::string NameOfGpu() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return "gpu";
  auto* const name_of = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  std::array<char, 256> name{};
  if (name_of == nullptr || name_of(name.data(), static_cast<int>(name.size()), 0) != 0) return "gpu";
  return AsWord(name.data());
}

// Each product and convolution by one way of computing it, whatever else would be faster this time, in float32 as its
// name says.
void MakeCudaDeterministic() {
  // cuBLAS reads it when it begins. A worker whose environment says otherwise keeps that.
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::Context& context = at::globalContext();
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setAllowTF32CuBLAS(false);
  context.setAllowTF32CuDNN(false);
  context.setAllowFP16ReductionCuBLAS(false);
  // Attention by the formula: the others' gradients may depend on the order in which blocks end.
  context.setSDPUseFlash(false);
#if TORCH_VERSION_MAJOR >= 2
  context.setAllowBF16ReductionCuBLAS(false);
  context.setSDPUseMemEfficient(false);
#endif
}

std::string Library() { return std::string("libtorch-") + TORCH_VERSION; }

std::string CudaKind() {
  const at::CUDAHooksInterface& hooks = at::detail::getCUDAHooks();
  return "cuda " + NameOfGpu() + " " + Library() + " cuda-" + std::to_string(hooks.versionCUDART()) + " cudnn-" +
         (hooks.hasCuDNN() ? std::to_string(hooks.versionCuDNN()) : "none") + " tf32-off deterministic";
}

std::string CpuKind() {
  const std::string capability = AsWord(WordAfter(at::show_config(), "CPU capability usage: "));
  const std::string processor = Processor();
  return "cpu " + (processor.empty() ? "" : processor + " ") + (capability.empty() ? "default" : capability) + " " +
         Library() + " " + MatrixLibrary();
}

}  // namespace

void SetUpDevice(int thread_count) {
  at::set_num_threads(thread_count);
  at::set_num_interop_threads(thread_count);
  if (auto* const set_threads = Find<void(int)>("openblas_set_num_threads")) set_threads(thread_count);
  at::globalContext().setDeterministicAlgorithms(true, false);
  MakeCudaDeterministic();
}

bool HasCoreToSpare(int thread_count) {
  if (TrainingDevice().is_cuda()) return true;
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) > thread_count;
}

std::string DeviceKind() {
  return (TrainingDevice().is_cuda() ? CudaKind() : CpuKind()) + " threads-" + std::to_string(at::get_num_threads());
}

}  // namespace espalier::trainer
