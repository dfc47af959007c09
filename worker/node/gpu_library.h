// The GPUs of this machine, as NVIDIA's management library (NVML) knows them. The library comes with the driver; it is
// opened where it is there, and nothing is built against it. Thread-safe, as the library is; its functions may take as
// long as the driver does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "worker/node/core/gpu_use.h"

namespace espalier::node {

struct Gpu {
  int number = 0;                 // on the PCI bus, from 0 on
  std::string uuid;               // "GPU-...", as CUDA_VISIBLE_DEVICES takes it
  std::int64_t memory_bytes = 0;  // of its own
};

class GpuLibrary {
 public:
  // As the dynamic linker finds it. Error: kNotFound, saying why: it is not there, or not what it should be, or finds
  // no driver.
  static Result<std::unique_ptr<GpuLibrary>> Open(const std::string& file = "libnvidia-ml.so.1");
  ~GpuLibrary();
  GpuLibrary(const GpuLibrary&) = delete;
  GpuLibrary& operator=(const GpuLibrary&) = delete;

  // By number, without those that fail, or that are cut into instances (MIG): these have to be named
  // by whoever knows how.
  std::vector<Gpu> Gpus() const;

  // Of one GPU, by its number or its uuid; of several, "0,1", their mean utilization and all
  // their memory. Error: kUnavailable, saying why: there is none of that name, or the driver has lost it, say.
  Result<GpuUse> UseOf(const std::string& gpus) const;

 private:
  struct Functions;
  GpuLibrary(void* library, std::unique_ptr<Functions> functions);
  Result<void> Check(int status, const char* what) const;
  Result<GpuUse> UseOfOne(const std::string& name) const;

  void* library_;
  std::unique_ptr<Functions> functions_;  // not null
};

}  // namespace espalier::node
