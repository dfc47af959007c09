// What users ask for with code of their own. ContentOf, Perform and AnswerOf are as calls/answer_once.h says; errors of
// Perform name the field.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/draft.h"

namespace espalier::master {

// Stores an archive; nothing if it is stored. Any member may call. Errors: kInvalidArgument, empty or too large;
// kResourceExhausted over what one user may have. O(bytes + archives).
Digest128 ContentOf(const Caller& caller, const PutArchive& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const PutArchive& call);
ArchivePut AnswerOf(const PutArchive& call, const std::vector<std::int64_t>& ids);

// Stores a reference, and tells every server of it; what was refused before is tried again. Any member may call.
// REQUIRES: the reference is the caller's. Errors: kInvalidArgument; kNotFound when its archive is not stored.
// O(servers).
Digest128 ContentOf(const Caller& caller, const DescribeTrainer& call);
Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const DescribeTrainer& call);
TrainerAsked AnswerOf(const DescribeTrainer& call, const std::vector<std::int64_t>& ids);

// Forgets who asked for references too long ago. O(references asked for).
void ForgetAsks(Draft& draft);

}  // namespace espalier::master
