// How commands reach the master, and what several of them ask it first.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/cli/command_context.h"
#include "client/client.h"
#include "client/connection.h"
#include "client/study_file/study_file.h"

namespace espalier {

// At --server, $ESPALIER_SERVER, or the address in the data directory; as whom --token-file, or $ESPALIER_TOKEN, says.
// Errors: kUnavailable if nobody answers, kUnauthenticated if what was given is no token.
Result<Client> ConnectToServer(const CommandContext& context, const RetryPolicy& policy = {});

// A study by id (all digits) or by name (the newest of that name).
Result<v1::StudySummary> FindStudy(Connection& connection, const std::string& id_or_name);

// Which trials of a study, in which order.
struct TrialListing {
  std::string study;  // an id or a name, as FindStudy takes it
  v1::TrialOrder order = v1::TRIAL_ORDER_SUBMISSION;
  std::vector<std::string> states{};                                // empty: all
  std::size_t count_max = std::numeric_limits<std::size_t>::max();  // the first so many
};

// Reads as many pages as that takes.
Result<std::vector<v1::Trial>> ListTrialsOf(Connection& connection, const TrialListing& listing);

// Of all trials of a study, an id or a name, as submitted; holds a page of trials at a time.
Result<std::vector<std::int64_t>> ListTrialIdsOf(Connection& connection, const std::string& study);

// Prints a mistake in a file and returns kExitUsage.
int FailFile(CommandContext& context, const FileError& error);

}  // namespace espalier
