#include "worker/trainer/models/placement.h"

#include <ATen/autocast_mode.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include "worker/trainer/models/values.h"

namespace espalier::trainer {
namespace {

void SetAutocast(bool enabled) {
  const at::DeviceType device = TrainingDevice().type();
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, enabled);
#else
  if (device == at::kCPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(enabled);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(enabled);
  }
#endif
  // What was cast lives no longer than the parameters' values.
  if (!enabled) at::autocast::clear_cache();
}

}  // namespace

at::Device TrainingDevice() {
  static const bool has_cuda = torch::cuda::is_available();
  return has_cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
}

Precision ParsePrecision(const std::string& text) {
  if (text == "float32") return Precision::kFloat32;
  if (text == "float64") return Precision::kFloat64;
  if (text == "mixed") return Precision::kMixed;
  Refuse("precision", "float32, float64 or mixed", text);
}

at::ScalarType ParameterType(Precision precision) {
  return precision == Precision::kFloat64 ? at::kDouble : at::kFloat;
}

at::Tensor Placed(const at::Tensor& tensor, Precision precision) {
  const at::ScalarType type = tensor.is_floating_point() ? ParameterType(precision) : tensor.scalar_type();
  if (!TrainingDevice().is_cuda() || tensor.is_cuda()) return tensor.to(TrainingDevice(), type);
  // From pages that stay where they are, which a GPU reads while it computes.
  return tensor.to(type).pin_memory().to(TrainingDevice(), type, /*non_blocking=*/true);
}

void Place(const NamedTensors& tensors, Precision precision) {
  for (const auto& [name, tensor] : tensors) tensor.set_data(Placed(tensor.detach(), precision));
}

MixedPrecision::MixedPrecision(Precision precision) : is_mixed_(precision == Precision::kMixed) {
  if (is_mixed_) SetAutocast(true);
}

MixedPrecision::~MixedPrecision() {
  if (is_mixed_) SetAutocast(false);
}

}  // namespace espalier::trainer
