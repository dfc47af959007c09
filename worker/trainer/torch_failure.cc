#include <c10/util/Exception.h>

#include <new>

#include "worker/trainer/failure.h"

namespace espalier {

Failure FailureOf(const std::exception_ptr& thrown, FailureKind otherwise) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return {FailureKind::kOutOfMemory, "memory did not suffice"};
  } catch (const c10::OutOfMemoryError& error) {
    return {FailureKind::kOutOfMemory, error.what()};
  } catch (const c10::Error& error) {
    // The CPU allocator has no exception type of its own.
    const std::string message = error.what();
    const bool no_memory = message.find("can't allocate memory") != std::string::npos;
    return {no_memory ? FailureKind::kOutOfMemory : otherwise, message};
  } catch (const std::exception& error) {
    return {otherwise, error.what()};
  } catch (...) {
    return {otherwise, "the trainer threw something that is not a std::exception"};
  }
}

}  // namespace espalier
