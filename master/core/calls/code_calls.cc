#include "master/core/calls/code_calls.h"

#include "base/key_text.h"

namespace espalier::master {

Digest128 ContentOf(const Caller& caller, const PutArchive& call) {
  KeyText key("put-archive-1");
  key.Add(caller.user).Add(Sha256Hex(call.bytes));
  return DigestOf(key.text());
}

Result<std::vector<std::int64_t>> Perform(Draft& draft, const Caller& caller, const PutArchive& call) {
  if (call.bytes.empty() || call.bytes.size() > kArchiveBytesMax) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "expected 1 to " + std::to_string(kArchiveBytesMax) + " bytes, got " +
                         std::to_string(call.bytes.size()) + "; keep data out of it: data = es.files(...)",
                     "archive");
  }
  const std::string sha256 = Sha256Hex(call.bytes);
  std::size_t of_user = call.bytes.size();
  for (const auto& [other, archive] : draft.state().archives) {
    if (other == sha256) return std::vector<std::int64_t>();
    if (archive.user == caller.user) of_user += archive.bytes.size();
  }
  if (of_user > kArchivesOfUserBytesMax) {
    return MakeError(ErrorCode::kResourceExhausted,
                     "the archives of one user have at most " + std::to_string(kArchivesOfUserBytesMax) +
                         " bytes together; make them smaller: files=[...] that change seldom can be data",
                     "archive");
  }
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
