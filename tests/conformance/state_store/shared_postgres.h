// One private cluster for all tests of a program; each test has a database of its own.
#pragma once

#include "tests/support/test_postgres.h"

namespace espalier::master {

TestPostgres& SharedPostgres();

}  // namespace espalier::master
