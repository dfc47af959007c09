// The only place that says what an exception of the database library means.
#pragma once

#include <type_traits>

#include "base/result.h"

namespace espalier {

// Of the exception being handled. kUnavailable: the database is away, or a commit's outcome is unknown; kAborted:
// a serialization failure or deadlock, or a constraint does not hold; kInvalidArgument: a value that the database
// cannot keep; kInternal: the rest. REQUIRES: called in a catch block.
Error CurrentDatabaseError();

// True of an error that a new transaction may not meet: serialization failure, deadlock. REQUIRES: in a catch block.
bool CurrentErrorIsTransient();

// Calls `function`, which returns a Result, and turns what the database library throws into an error.
template <class Function>
auto WithDatabaseErrors(const Function& function) -> std::invoke_result_t<Function> {
  try {
    return function();
  } catch (...) {
    return tl::unexpected<Error>(CurrentDatabaseError());
  }
}

}  // namespace espalier
