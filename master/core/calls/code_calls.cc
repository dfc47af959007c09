#include "master/core/calls/code_calls.h"

#include <algorithm>
#include <set>

#include "base/key_text.h"

namespace espalier::master {

Digest128 ContentOf(const Caller& caller, const PutArchive& call) {
  KeyText key("put-archive-1");
  key.Add(caller.user).Add(Sha256Hex(call.bytes));
  return DigestOf(key.text());
}

namespace {

// Of those that are described to servers.
std::set<std::string> ArchivesInUse(const MasterState& state) {
  std::set<std::string> used;
  for (const auto& [reference, count] : state.index.references_in_use) {
    used.insert(state.references.at(reference).archive);
  }
  for (const auto& [reference, at] : state.asked) used.insert(state.references.at(reference).archive);
  return used;
}

// Drops the user's oldest archives that nobody needs, as far as that takes. Error: kResourceExhausted; nothing is
// dropped then. Cost: the archives and references that there are.
Result<void> MakeRoom(Draft& draft, const Caller& caller, std::size_t bytes) {
  std::vector<std::pair<Time, std::string>> of_user;
  for (const auto& [sha256, archive] : draft.state().archives) {
    if (archive.user != caller.user) continue;
    bytes += archive.bytes.size();
    of_user.emplace_back(archive.put_at, sha256);
  }
  if (bytes <= kArchivesOfUserBytesMax) return {};
  const std::set<std::string> used = ArchivesInUse(draft.state());
  std::ranges::sort(of_user);
  std::vector<DropArchive> dropped;
  for (const auto& [put_at, sha256] : of_user) {
    if (bytes <= kArchivesOfUserBytesMax) break;
    if (used.contains(sha256)) continue;
    bytes -= draft.state().archives.at(sha256).bytes.size();
    dropped.push_back({sha256});
  }
  if (bytes > kArchivesOfUserBytesMax) {
    return MakeError(ErrorCode::kResourceExhausted,
                     "the archives of one user's running studies have at most " +
                         std::to_string(kArchivesOfUserBytesMax) +
                         " bytes together; make them smaller: files=[...] that change seldom can be data",
                     "archive");
  }
  for (const DropArchive& change : dropped) draft.Do(change);
  return {};
}

}  // namespace

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const PutArchive& call) {
  if (call.bytes.empty() || call.bytes.size() > kArchiveBytesMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected 1 to " + std::to_string(kArchiveBytesMax) + " bytes, got " +
                         std::to_string(call.bytes.size()) + "; keep data out of it: data = es.files(...)",
                     "archive");
  }
  const std::string sha256 = Sha256Hex(call.bytes);
  if (draft.state().archives.contains(sha256)) return std::vector<std::int64_t>();
  ESPALIER_RETURN_IF_ERROR(MakeRoom(draft, caller, call.bytes.size()));
  draft.Do(AddArchive{sha256, {.bytes = call.bytes, .user = caller.user, .put_at = draft.now}});
  return std::vector<std::int64_t>();
}

ArchivePut AnswerOf(const PutArchive&, const std::vector<std::int64_t>&) { return {}; }

Digest128 ContentOf(const Caller&, const DescribeTrainer& call) {
  KeyText key("describe-trainer-1");
  key.Add(ToHex(DigestOf(call.reference)));
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller&, const DescribeTrainer& call) {
  const TrainerReference& reference = call.reference;
  ESPALIER_RETURN_IF_ERROR(Check(reference));
  if (!reference.archive.empty() && !draft.state().archives.contains(reference.archive)) {
    return MakeError(ErrorCode::kNotFound, "no archive " + reference.archive + " is stored; put it first", "archive");
  }
  const Digest128 digest = DigestOf(reference);
  if (!draft.state().references.contains(digest)) draft.Do(AddReference{reference});
  draft.Do(AskReference{digest, draft.now});
  return std::vector<std::int64_t>();
}

TrainerAsked AnswerOf(const DescribeTrainer& call, const std::vector<std::int64_t>&) {
  return {DigestOf(call.reference)};
}

void ForgetAsks(Draft& draft) {
  const std::map<Digest128, Time> asked = draft.state().asked;
  for (const auto& [reference, at] : asked) {
    if (draft.now - at > kAskedFor) draft.Do(ForgetAsk{reference});
  }
}

}  // namespace espalier::master
