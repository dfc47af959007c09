#include "worker/trainer/torch_device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <torch/version.h>

#include <algorithm>
#include <cctype>

namespace espalier::trainer {
namespace {

// A function of a library that may or may not be loaded; null if it is not.
template <class Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
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
    return "openblas-" + version + "-" + LowerCase(core());
  }
  const std::string name = LowerCase(WordAfter(at::show_config(), "BLAS_INFO="));
  return name.empty() ? "blas" : name;
}

}  // namespace

void SetUpDevice(int thread_count) {
  at::set_num_threads(thread_count);
  at::set_num_interop_threads(thread_count);
  if (auto* const set_threads = Find<void(int)>("openblas_set_num_threads")) set_threads(thread_count);
  at::globalContext().setDeterministicAlgorithms(true, false);
}

std::string DeviceKind() {
  const std::string capability = LowerCase(WordAfter(at::show_config(), "CPU capability usage: "));
  return "cpu " + (capability.empty() ? "default" : capability) + " libtorch-" + TORCH_VERSION + " " + MatrixLibrary() +
         " threads-" + std::to_string(at::get_num_threads());
}

}  // namespace espalier::trainer
