// The device that this process trains on.
#pragma once

#include <string>

namespace espalier::trainer {

// Makes the math libraries deterministic, with so many threads, and keeps them from faster formats of numbers (TF32).
// Called once, before anything is computed.
void SetUpDevice(int thread_count);

// Whether something is left for a thread beside those that compute: training is on a GPU, or this process may run on
// more cores than so many threads take. REQUIRES: SetUpDevice was called.
bool HasCoreToSpare(int thread_count);

// What decides bits besides the trainer, in words without spaces: "cpu genuineintel-6-143 avx2 libtorch-1.13.0
// openblas-0.3.21-skylakex threads-1", "cuda nvidia-h200 libtorch-2.13.0 cuda-13000 cudnn-91200 tf32-off deterministic
// threads-1". REQUIRES: SetUpDevice was called.
std::string DeviceKind();

}  // namespace espalier::trainer
