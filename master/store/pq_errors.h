// The only place that says what the database's errors mean, and the exceptions of its library.
#pragma once

#include <string>
#include <type_traits>

#include "base/result.h"

namespace espalier::master {

// By SQLSTATE; empty when the error did not come from the server: the connection was lost. kUnavailable, kAborted,
// kInvalidArgument and kInternal as below.
Error DatabaseError(const std::string& state, const std::string& message);

// Of the exception being handled. kUnavailable: the database is away, or a commit's outcome is unknown; kAborted:
// a serialization failure or deadlock, or the database holds other than it should for this; kInvalidArgument: a value
// that the database cannot keep, or that a table's rule refuses whatever else is stored; kInternal: the rest. REQUIRES:
// called in a catch block.
Error CurrentDatabaseError();

// Calls `function`, which returns a Result, and turns what the database library throws into an error.
template <class Function>
auto WithDatabaseErrors(const Function& function) -> std::invoke_result_t<Function> {
  try {
    return function();
  } catch (...) {
    return tl::unexpected<Error>(CurrentDatabaseError());
  }
}

}  // namespace espalier::master
