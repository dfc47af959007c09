// Digests by which schemas and training identities are stored once. Unambiguous over all fields.
#pragma once

#include "base/digest.h"
#include "searchplan/plan/search_plan.h"

namespace espalier::master {

Digest128 SchemaDigest(const Schema& schema);
Digest128 TrainingDigest(const TrainingIdentity& training);

}  // namespace espalier::master
