// A worker that a bench leads itself, request by request, as a node manager does: without one, and without a master.
// Gives up where the worker fails. Owned by one thread, which lives as long.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/offer.h"
#include "worker/process/worker_process.h"
#include "worker/protocol/worker_message.h"

namespace espalier::bench {

class LedWorker {
 public:
  // `folder`: for its log.
  LedWorker(const std::vector<std::string>& command, const std::string& folder);

  // Its first trainer.
  const Offer& offer() const { return offer_; }
  const std::string& device_kind() const { return device_kind_; }
  pid_t pid() const { return process_->pid(); }

  // Returns the request's id without waiting for the answer.
  std::int64_t Send(worker::RequestKind request);
  worker::ReplyKind Await(std::int64_t id);
  // True once its answer was read, beside another that was awaited.
  bool HasAnswered(std::int64_t id) const { return early_.contains(id); }
  worker::ReplyKind Ask(worker::RequestKind request) { return Await(Send(std::move(request))); }

  // Init and Setup of the first trainer, with its defaults but for these values.
  void Begin(StepMeaning step, const worker::Values& values);
  void Train() { Await(BeginTrain()); }
  std::int64_t BeginTrain() { return Send(worker::Train{Step{++step_}}); }
  // To that file; returns without waiting for it.
  std::int64_t BeginSave(const std::string& path);
  worker::Saved AwaitSave(std::int64_t id) { return std::get<worker::Saved>(Await(id)); }

 private:
  std::unique_ptr<worker::WorkerProcess> process_;
  Offer offer_;
  std::string device_kind_;
  std::int64_t last_id_ = 0;
  std::int64_t step_ = 0;
  std::map<std::int64_t, worker::ReplyKind> early_;
};

// Values of all hyper-parameters at the trainer's defaults, but for these; with or without those that are initial.
worker::Values ValuesOf(const Offer& offer, const worker::Values& values, bool initial_too);

}  // namespace espalier::bench
