#include "bench/led_worker.h"

#include <poll.h>

#include "bench/service.h"
#include "worker/process/worker_family.h"
#include "worker/protocol/encoding.h"

namespace espalier::bench {

LedWorker::LedWorker(const std::vector<std::string>& command, const std::string& folder)
    : process_(Need(worker::WorkerProcess::Start(command, folder + "/led-worker.log", worker::FamilyMark(folder, 1)))) {
  const auto described = std::get<worker::Description>(Ask(worker::Describe{}));
  offer_ = described.offers.at(0);
  device_kind_ = described.device_kind;
}

std::int64_t LedWorker::Send(worker::RequestKind request) {
  Need(process_->channel().Send(worker::Encode(worker::WorkerRequest{++last_id_, std::move(request)})));
  return last_id_;
}

worker::ReplyKind LedWorker::Await(std::int64_t id) {
  while (!early_.contains(id)) {
    worker::WorkerChannel& channel = process_->channel();
    if (channel.closed()) GiveUp("a worker has died: " + (process_->HasEnded() ? process_->LastWords() : ""));
    pollfd waiting{channel.socket(), POLLIN, 0};
    poll(&waiting, 1, -1);
    for (const std::string& message : channel.Receive()) {
      worker::WorkerReply reply = Need(worker::DecodeReply(message));
      if (const auto* failure = std::get_if<worker::Failure>(&reply.kind))
        GiveUp("a worker failed: " + failure->message);
      early_[reply.id] = std::move(reply.kind);
    }
  }
  return early_.extract(id).mapped();
}

void LedWorker::Begin(StepMeaning step, const worker::Values& values) {
  step_ = 0;
  Ask(worker::Init{.run = {LeadershipId{1}, RunId{1}},
                   .trainer = offer_.trainer,
                   .data = offer_.data,
                   .step = step,
                   .values = ValuesOf(offer_, values, true),
                   .step_log = ""});
  Ask(worker::Setup{ValuesOf(offer_, values, false)});
}

std::int64_t LedWorker::BeginSave(const std::string& path) {
  return Send(worker::Save{
      path, {{LeadershipId{1}, RunId{1}}, PlanId{1}, {PlanNodeId{1}, Step{step_}}, DigestOf("a lineage")}});
}

worker::Values ValuesOf(const Offer& offer, const worker::Values& values, bool initial_too) {
  worker::Values all;
  for (const HyperParameter& declared : offer.schema.hyper_parameters) {
    if (declared.initial && !initial_too) continue;
    const auto given = values.find(declared.name);
    all[declared.name] = given == values.end() ? declared.default_value : given->second;
  }
  return all;
}

}  // namespace espalier::bench
