// An error id ties what a caller is told to what the log says. The reason of a failure that is not the caller's (an
// exception, the database's text) may hold what is others': it goes into the log alone, and the caller is given the id
// to ask about. Any thread.
#pragma once

#include <string>

namespace espalier::master {

// Eight hexadecimal digits; two of a service's life are the same only by bad luck.
std::string NewErrorId();

}  // namespace espalier::master
