#include "worker/node/gpu_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "protocol/device.h"

// As nvml.h declares it; the library keeps these signatures.
extern "C" {
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct NvmlUtilization {
  unsigned int gpu;  // percent of the last moment's time in which anything ran on it
  unsigned int memory;
};
}

namespace espalier::node {
namespace {

using Handle = void*;
constexpr int kSuccess = 0;

std::int64_t Bytes(unsigned long long bytes) {
  return static_cast<std::int64_t>(std::min<unsigned long long>(bytes, kMemoryBytesMax));
}

}  // namespace

struct GpuLibrary::Functions {
  int (*init)() = nullptr;
  int (*shut_down)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*handle_by_index)(unsigned int, Handle*) = nullptr;
  int (*handle_by_uuid)(const char*, Handle*) = nullptr;
  int (*uuid)(Handle, char*, unsigned int) = nullptr;
  int (*memory)(Handle, NvmlMemory*) = nullptr;
  int (*utilization)(Handle, NvmlUtilization*) = nullptr;
  int (*mig_mode)(Handle, unsigned int*, unsigned int*) = nullptr;  // null: older than that

  // The name of the first that is missing; empty: none.
  std::string Find(void* library) {
    std::string missing;
    const auto find = [&](auto& function, const char* name, bool is_required = true) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && is_required && missing.empty()) missing = name;
    };
    find(init, "nvmlInit_v2");
    find(shut_down, "nvmlShutdown");
    find(error_string, "nvmlErrorString");
    find(count, "nvmlDeviceGetCount_v2");
    find(handle_by_index, "nvmlDeviceGetHandleByIndex_v2");
    find(handle_by_uuid, "nvmlDeviceGetHandleByUUID");
    find(uuid, "nvmlDeviceGetUUID");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(utilization, "nvmlDeviceGetUtilizationRates");
    find(mig_mode, "nvmlDeviceGetMigMode", false);
    return missing;
  }
};

Result<std::unique_ptr<GpuLibrary>> GpuLibrary::Open(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return MakeError(ErrorCode::kNotFound, dlerror());
  auto functions = std::make_unique<Functions>();
  std::string defect = functions->Find(library);
  if (!defect.empty()) {
    defect = file + " has no " + defect;
  } else if (const int status = functions->init(); status != kSuccess) {
    defect = file + ": " + functions->error_string(status);
  }
  if (defect.empty()) return std::unique_ptr<GpuLibrary>(new GpuLibrary(library, std::move(functions)));
  dlclose(library);
  return MakeError(ErrorCode::kNotFound, std::move(defect));
}

GpuLibrary::GpuLibrary(void* library, std::unique_ptr<Functions> functions)
    : library_(library), functions_(std::move(functions)) {}

GpuLibrary::~GpuLibrary() {
  functions_->shut_down();
  dlclose(library_);
}

Result<void> GpuLibrary::Check(int status, const char* what) const {
  if (status == kSuccess) return {};
  return MakeError(ErrorCode::kUnavailable, std::string(what) + ": " + functions_->error_string(status));
}

std::vector<Gpu> GpuLibrary::Gpus() const {
  std::vector<Gpu> gpus;
  unsigned int count = 0;
  if (functions_->count(&count) != kSuccess) return gpus;
  for (unsigned int i = 0; i < count; ++i) {
    Handle handle = nullptr;
    std::array<char, 96> uuid{};
    NvmlMemory memory{};
    if (functions_->handle_by_index(i, &handle) != kSuccess) continue;
    if (functions_->uuid(handle, uuid.data(), uuid.size()) != kSuccess) continue;
    if (functions_->memory(handle, &memory) != kSuccess) continue;
    unsigned int is_cut = 0;
    unsigned int will_be = 0;
    const bool says_mode =
        functions_->mig_mode != nullptr && functions_->mig_mode(handle, &is_cut, &will_be) == kSuccess;
    if (says_mode && is_cut != 0) continue;
    gpus.push_back({static_cast<int>(i), uuid.data(), Bytes(memory.total)});
  }
  return gpus;
}

Result<GpuUse> GpuLibrary::UseOfOne(const std::string& name) const {
  Handle handle = nullptr;
  unsigned int number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, number);
  const bool is_number = read.ec == std::errc() && read.ptr == end;
  ESPALIER_RETURN_IF_ERROR(Check(
      is_number ? functions_->handle_by_index(number, &handle) : functions_->handle_by_uuid(name.c_str(), &handle),
      "finding it"));
  NvmlUtilization utilization{};
  NvmlMemory memory{};
  ESPALIER_RETURN_IF_ERROR(Check(functions_->utilization(handle, &utilization), "its utilization"));
  ESPALIER_RETURN_IF_ERROR(Check(functions_->memory(handle, &memory), "its memory"));
  return GpuUse{static_cast<int>(std::min(utilization.gpu, 100U)) * 10, Bytes(memory.used)};
}

Result<GpuUse> GpuLibrary::UseOf(const std::string& gpus) const {
  GpuUse sum;
  int count = 0;
  for (std::string_view rest = gpus; !rest.empty();) {
    const std::string name(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    ESPALIER_ASSIGN(const GpuUse use, UseOfOne(name));
    sum.utilization += use.utilization;
    sum.memory_bytes += use.memory_bytes;
    ++count;
  }
  if (count == 0) return MakeError(ErrorCode::kUnavailable, "no GPU is named");
  sum.utilization /= count;
  return sum;
}

}  // namespace espalier::node
