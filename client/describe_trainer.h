// Has servers describe trainers of the user's own, of which they need not have heard before.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/connection.h"
#include "client/study_specification.h"
#include "client/trainer_code.h"

namespace espalier {

// The registered trainers. A server that has just started may have none yet: waits a little for the first.
Result<std::vector<v1::TrainerDescription>> RegisteredTrainers(Connection& connection);

// Is told, as a sentence, what is waited for, when that changes.
using OnWait = std::function<void(const std::string& waiting)>;

// What servers offer by such code; the specification then names it. For that the archive is made and sent, if the
// service has it not, and it is waited until a server offers the trainer or all that are connected have refused it. Of
// data for a trainer that is built in, and that a server has registered already, all that is registered. Errors:
// kInvalidArgument with the field, for code that cannot travel or has several trainers; kFailedPrecondition with each
// server's reason, or when none comes; else the master's. `say` may be empty.
Result<std::vector<v1::TrainerDescription>> DescribeTrainer(Connection& connection, const TrainerCode& code,
                                                            StudySpecification& specification, const OnWait& say);

}  // namespace espalier
