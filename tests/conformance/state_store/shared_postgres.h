// One private cluster for all tests of a program; each test has a database of its own.
#pragma once

#include "tests/support/private_postgres.h"

namespace espalier::master {

PrivatePostgres& SharedPostgres();

}  // namespace espalier::master
