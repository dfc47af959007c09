#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/util/Exception.h>

#include <new>

#include "worker/trainer/failure.h"

namespace espalier::trainer {
namespace {

bool Says(const std::string& message, const char* words) { return message.find(words) != std::string::npos; }

// A GPU's error that stays is returned by all that is asked later; one of a single call is not. Without a GPU nobody
// can be asked, and the words have to do.
bool GpuIsLost(const std::string& message) {
  if (!at::hasCUDA()) return Says(message, "CUDA error");
  try {
    const auto& hooks = at::detail::getCUDAHooks();
    if (hooks.hasPrimaryContext(hooks.current_device())) hooks.deviceSynchronize(hooks.current_device());
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

// LibTorch has exception types for few of its errors.
Failure FailureOf(const c10::Error& error, FailureKind otherwise) {
  const std::string message = error.what();
  if (GpuIsLost(message)) {
    return {.kind = otherwise, .message = message, .of_library = true, .worker_unusable = true};
  }
  if (Says(message, "can't allocate memory")) return {.kind = FailureKind::kOutOfMemory, .message = message};
  return {.kind = otherwise,
          .message = message,
          .of_library = Says(message, "INTERNAL ASSERT FAILED") || Says(message, "CUDA error")};
}

}  // namespace

Failure FailureOf(const std::exception_ptr& thrown, FailureKind otherwise) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return {.kind = FailureKind::kOutOfMemory, .message = "memory did not suffice"};
  } catch (const c10::OutOfMemoryError& error) {
    return {.kind = FailureKind::kOutOfMemory, .message = error.what()};
  } catch (const c10::Error& error) {
    return FailureOf(error, otherwise);
  } catch (const std::exception& error) {
    return {.kind = otherwise, .message = error.what()};
  } catch (...) {
    return {.kind = otherwise, .message = "the trainer threw something that is not a std::exception"};
  }
}

}  // namespace espalier::trainer
