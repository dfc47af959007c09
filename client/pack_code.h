// What of a trainer of the user's own travels to servers. The user's own Python packs its code, or `espalier-script`; a
// library or a module travels as it is.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "client/trainer_code.h"

namespace espalier {

// What there is to say of a trainer besides its name.
struct PackedCode {
  std::string archive{};    // empty: no code travels
  std::string python{};     // that of who packed it
  std::string folder{};     // below which the data lies
  std::string data_seen{};  // the data's digest; empty: it is not there, or has none
  std::vector<std::string> data{};
};

// Cost: code in Python is imported, and a program started, once, which may take seconds; of data a look at each file.
// Errors: kInvalidArgument with the field and the last words of who packs, for code that cannot travel;
// kFailedPrecondition where `espalier-script` is not installed.
Result<PackedCode> Pack(const TrainerCode& code);

}  // namespace espalier
