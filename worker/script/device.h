// What decides the bits of a program's training besides the program, as far as can be seen from outside.
#pragma once

#include <string>

namespace espalier::script {

// "cpu x86_64 genuineintel-6-143 avx512 threads-1", with GPUs before that, the processor left to them, and what the
// program says behind it. `gpus`: as CUDA_VISIBLE_DEVICES has it; empty: none.
std::string DeviceKind(const std::string& gpus, int thread_count, const std::string& said);

}  // namespace espalier::script
