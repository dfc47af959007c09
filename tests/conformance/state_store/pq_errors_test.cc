// What the database's errors mean to the master.
#include "master/store/pq_errors.h"

#include <catch2/catch.hpp>

namespace espalier::master {

TEST_CASE("a value that breaks a table's rule is the value's fault; a row that is there already, the memory's") {
  CHECK(DatabaseError("23514", "check").code == ErrorCode::kInvalidArgument);
  CHECK(DatabaseError("22021", "not UTF-8").code == ErrorCode::kInvalidArgument);
  CHECK(DatabaseError("23505", "unique").code == ErrorCode::kAborted);
  CHECK(DatabaseError("23502", "not null, by which statements say that memory is wrong").code == ErrorCode::kAborted);
  CHECK(DatabaseError("23503", "foreign key").code == ErrorCode::kAborted);
}

}  // namespace espalier::master
