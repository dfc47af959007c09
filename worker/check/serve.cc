#include "worker/check/serve.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "worker/check/check.h"
#include "worker/protocol/encoding.h"
#include "worker/protocol/message_socket.h"

namespace espalier::trainer_check {
namespace {

constexpr Step kSteps{6};

Result<worker::WorkerRequest> ReadRequest(worker::MessageSocket& socket) {
  ESPALIER_ASSIGN(const std::optional<std::string> message, socket.Read());
  if (!message.has_value()) return MakeError(ErrorCode::kAborted, "nobody asks for anything");
  return worker::DecodeRequest(*message);
}

Result<Offer> OfferIn(const worker::Description& description, Digest128 wanted) {
  for (const Offer& offer : description.offers) {
    if (DigestOf(offer) == wanted) return offer;
  }
  return MakeError(ErrorCode::kUnavailable, "the trainer, or its data, has changed");
}

// Those that the trainer declares.
Result<Sequences> ConstantsOf(const worker::Values& values, const Schema& schema) {
  Sequences sequences;
  for (const auto& [name, value] : values) {
    const HyperParameter* declared = schema.Find(name);
    if (declared == nullptr) continue;
    ESPALIER_ASSIGN(Sequence sequence, CompileFor(*declared, Expression{value}, kSteps));
    sequences.emplace(name, std::move(sequence));
  }
  return sequences;
}

worker::ReplyKind ReplyOf(const CheckFinding& finding) {
  if (finding.outcome == CheckOutcome::kPassed) return worker::Done{};
  const bool is_failed = finding.outcome == CheckOutcome::kFailed;
  return worker::Failure{is_failed ? worker::FailureKind::kTrainer : worker::FailureKind::kRequest,
                         CleanText(finding.message)};
}

}  // namespace

Result<Asked> ParseArguments(const std::vector<std::string>& arguments) {
  const auto wrong = [](const char* field) {
    return MakeError(ErrorCode::kInvalidArgument, "is missing or wrong", field);
  };
  if (arguments.size() < 5 || arguments[arguments.size() - 2] != "--fd") return wrong("FOLDER OFFER COMMAND... --fd N");
  Asked asked{
      .folder = arguments[0], .offer = {}, .command = {arguments.begin() + 2, arguments.end() - 2}, .family = {}};
  const Result<Digest128> offer = ParseDigest128(arguments[1]);
  if (!offer.has_value()) return wrong("OFFER");
  asked.offer = *offer;
  const std::string& fd = arguments.back();
  const auto [end, error] = std::from_chars(fd.data(), fd.data() + fd.size(), asked.fd);
  if (error != std::errc() || end != fd.data() + fd.size() || asked.fd < 0) return wrong("--fd");
  return asked;
}

Result<void> Serve(const Asked& asked) {
  worker::MessageSocket socket(asked.fd);
  ESPALIER_ASSIGN(const worker::WorkerRequest request, ReadRequest(socket));
  const auto* init = std::get_if<worker::Init>(&request.kind);
  if (init == nullptr) return MakeError(ErrorCode::kInvalidArgument, "is asked for something else than a check");
  // Nothing more is sent: what can be read is the socket's end.
  Workers workers(asked.command, asked.folder, {.fd = asked.fd, .is_asked = [] { return true; }}, asked.family);
  ESPALIER_ASSIGN(const worker::Description description, workers.Describe());
  Subject subject{.offer = {}, .given = {}, .step = init->step, .end = kSteps};
  ESPALIER_ASSIGN(subject.offer, OfferIn(description, asked.offer));
  ESPALIER_ASSIGN(subject.given, ConstantsOf(init->values, subject.offer.schema));
  ESPALIER_ASSIGN(const Report report, Check(workers, asked.folder, subject, [](const std::string&) {}));
  const std::optional<CheckFinding> finding = Conclude(report);
  if (!finding.has_value()) return MakeError(ErrorCode::kUnavailable, report.finding->message);
  return socket.Write(worker::Encode(worker::WorkerReply{request.id, ReplyOf(*finding)}));
}

}  // namespace espalier::trainer_check
