#include "tests/support/fake_master.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>

#include "espalier/v1/inspect.grpc.pb.h"
#include "espalier/v1/study.grpc.pb.h"

namespace espalier::testing {
namespace {

struct FakeClaim {
  std::int64_t id = 0;
  std::int64_t trial_id = 0;
  std::int64_t step = 0;
  bool waiting = true;
};

struct FakeTrial {
  std::int64_t id = 0;
  Sequences sequences;
  std::int64_t horizon = 0;
  std::int64_t last_claim = 0;
  bool open = true;
  bool failed = false;
  bool cancelled = false;
  std::map<std::int64_t, Metrics> evaluations;
};

struct FakeStudy {
  std::int64_t id = 0;
  v1::StudySpecification specification;
  bool finished = false;
  std::vector<FakeTrial> trials;
  std::vector<FakeClaim> claims;
  std::vector<v1::StudyEvent> events;
  std::map<std::string, std::pair<std::string, v1::SubmitResponse>> answers;  // by request id: content, first answer

  FakeTrial* Find(std::int64_t trial_id) {
    for (FakeTrial& trial : trials) {
      if (trial.id == trial_id) return &trial;
    }
    return nullptr;
  }
  v1::StudyEvent& AddEvent() {
    events.emplace_back().set_number(static_cast<std::int64_t>(events.size()));
    return events.back();
  }
};

grpc::Status Refuse(grpc::StatusCode code, const std::string& message, const std::string& field = {}) {
  v1::ErrorDetail detail;
  detail.set_field(field);
  return {code, message, detail.SerializeAsString()};
}

std::string StateOf(const FakeStudy& study, const FakeTrial& trial) {
  if (trial.failed) return "failed";
  if (trial.cancelled) return "cancelled";
  const bool waiting = std::any_of(study.claims.begin(), study.claims.end(),
                                   [&](const FakeClaim& claim) { return claim.waiting && claim.trial_id == trial.id; });
  if (waiting) return "waiting";
  return trial.open ? "idle" : "done";
}

}  // namespace

struct FakeMaster::Parts final : v1::StudyService::Service, v1::InspectService::Service {
  explicit Parts(FakeMasterOptions options_in) : options(std::move(options_in)) {}

  FakeMasterOptions options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<FakeStudy> studies;
  std::map<std::string, v1::CreateStudyResponse> creation_answers;
  std::vector<v1::SubmitRequest> submissions;
  std::vector<v1::CreateStudyRequest> creations;
  std::int64_t next_id = 1;
  int failing_calls = 0;
  Fault fault = Fault::kBefore;
  bool stopping = false;
  std::unique_ptr<grpc::Server> server;

  FakeStudy* Find(std::int64_t id) {
    for (FakeStudy& study : studies) {
      if (study.id == id) return &study;
    }
    return nullptr;
  }

  // Wraps a mutation in the faults that were asked for. REQUIRES: mutex is held.
  template <class Mutation>
  grpc::Status WithFaults(Mutation&& mutation) {
    const bool fails = failing_calls > 0;
    if (fails) --failing_calls;
    const grpc::Status unavailable(grpc::StatusCode::UNAVAILABLE, "the fake master was told to fail");
    if (fails && fault == Fault::kBefore) return unavailable;
    const grpc::Status status = mutation();
    changed.notify_all();
    return fails ? unavailable : status;
  }

  grpc::Status CreateStudy(grpc::ServerContext*, const v1::CreateStudyRequest* request,
                           v1::CreateStudyResponse* response) override {
    const std::lock_guard lock(mutex);
    creations.push_back(*request);
    return WithFaults([&] {
      if (const auto answer = creation_answers.find(request->request_id()); answer != creation_answers.end()) {
        *response = answer->second;
        return grpc::Status::OK;
      }
      for (const FakeStudy& study : studies) {
        if (study.finished || study.specification.name() != request->study().name()) continue;
        if (study.specification.SerializeAsString() != request->study().SerializeAsString()) {
          return Refuse(grpc::StatusCode::ALREADY_EXISTS, "a running study of that name has other content", "study");
        }
        response->set_study_id(study.id);
        response->set_attached(true);
        return grpc::Status::OK;
      }
      FakeStudy& study = studies.emplace_back();
      study.id = next_id++;
      study.specification = request->study();
      response->set_study_id(study.id);
      creation_answers[request->request_id()] = *response;
      return grpc::Status::OK;
    });
  }

  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request, v1::SubmitResponse* response) override {
    const std::lock_guard lock(mutex);
    submissions.push_back(*request);
    return WithFaults([&] {
      FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      const std::string content = request->ShortDebugString();
      if (const auto answer = study->answers.find(request->request_id()); answer != study->answers.end()) {
        *response = answer->second.second;
        return answer->second.first == content
                   ? grpc::Status::OK
                   : Refuse(grpc::StatusCode::ALREADY_EXISTS, "this request id had other content", "request_id");
      }
      if (const grpc::Status status = Check(*study, *request); !status.ok()) return status;
      Apply(*study, *request, *response);
      study->answers[request->request_id()] = {content, *response};
      if (options.settle_seed.has_value()) SettleAll(*study);
      FinishIfDone(*study);
      return grpc::Status::OK;
    });
  }

  static grpc::Status Check(FakeStudy& study, const v1::SubmitRequest& request) {
    if (study.finished) return Refuse(grpc::StatusCode::FAILED_PRECONDITION, "the study is finished");
    for (int i = 0; i < request.new_trials_size(); ++i) {
      const v1::NewTrial& trial = request.new_trials(i);
      if (trial.steps() >= 1 && (trial.horizon_steps() == 0 || trial.steps() <= trial.horizon_steps())) continue;
      return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "steps: expected 1 <= steps <= horizon",
                    "trials[" + std::to_string(i) + "].steps");
    }
    for (const v1::FurtherClaim& claim : request.claims()) {
      const FakeTrial* trial = study.Find(claim.trial_id());
      if (trial == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such trial");
      if (!trial->open) return Refuse(grpc::StatusCode::FAILED_PRECONDITION, "the trial is closed");
      if (claim.steps() <= trial->last_claim || claim.steps() > trial->horizon) {
        return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "steps: expected past the last claim", "claims");
      }
    }
    for (const std::int64_t id : request.close_trial_ids()) {
      const FakeTrial* trial = study.Find(id);
      if (trial == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such trial");
      if (!trial->open) return Refuse(grpc::StatusCode::FAILED_PRECONDITION, "the trial is closed");
    }
    return grpc::Status::OK;
  }

  void Apply(FakeStudy& study, const v1::SubmitRequest& request, v1::SubmitResponse& response) {
    for (const v1::NewTrial& wanted : request.new_trials()) {
      FakeTrial& trial = study.trials.emplace_back();
      trial.id = next_id++;
      trial.sequences = {wanted.sequences().begin(), wanted.sequences().end()};
      trial.horizon = wanted.horizon_steps() == 0 ? wanted.steps() : wanted.horizon_steps();
      response.add_trial_ids(trial.id);
      study.AddEvent().mutable_trial_submitted()->set_trial_id(trial.id);
      response.add_claim_ids(AddClaim(study, trial, wanted.steps()));
    }
    for (const v1::FurtherClaim& claim : request.claims()) {
      response.add_claim_ids(AddClaim(study, *study.Find(claim.trial_id()), claim.steps()));
    }
    for (const std::int64_t id : request.close_trial_ids()) Close(study, *study.Find(id), false);
    for (const std::int64_t id : request.cancel_trial_ids()) Close(study, *study.Find(id), true);
    if (!request.finish()) return;
    for (FakeTrial& trial : study.trials) Close(study, trial, false);
  }

  std::int64_t AddClaim(FakeStudy& study, FakeTrial& trial, std::int64_t step) {
    trial.last_claim = step;
    const FakeClaim& claim = study.claims.emplace_back(FakeClaim{next_id++, trial.id, step, true});
    v1::ClaimMade& made = *study.AddEvent().mutable_claim_made();
    made.set_claim_id(claim.id);
    made.set_trial_id(trial.id);
    made.set_step(step);
    return claim.id;
  }

  static void Close(FakeStudy& study, FakeTrial& trial, bool cancel) {
    if (!trial.open) return;
    trial.open = false;
    trial.cancelled = cancel;
    if (cancel) {
      for (FakeClaim& claim : study.claims) {
        if (claim.waiting && claim.trial_id == trial.id) AddSettled(study, claim, v1::ClaimSettled::STATE_CANCELLED);
      }
    }
    v1::TrialClosed& closed = *study.AddEvent().mutable_trial_closed();
    closed.set_trial_id(trial.id);
    closed.set_cancelled(cancel);
  }

  static v1::ClaimSettled& AddSettled(FakeStudy& study, FakeClaim& claim, v1::ClaimSettled::State state) {
    claim.waiting = false;
    v1::ClaimSettled& settled = *study.AddEvent().mutable_claim_settled();
    settled.set_claim_id(claim.id);
    settled.set_trial_id(claim.trial_id);
    settled.set_step(claim.step);
    settled.set_state(state);
    return settled;
  }

  void Train(FakeStudy& study, FakeClaim& claim) {
    FakeTrial& trial = *study.Find(claim.trial_id);
    const std::optional<Metrics> metrics = options.train(trial.sequences, claim.step);
    if (!metrics.has_value()) {
      trial.failed = true;
      AddSettled(study, claim, v1::ClaimSettled::STATE_FAILED).set_message("the training failed");
      return;
    }
    trial.evaluations[claim.step] = *metrics;
    AddSettled(study, claim, v1::ClaimSettled::STATE_DONE).mutable_metrics()->insert(metrics->begin(), metrics->end());
  }

  void SettleAll(FakeStudy& study) {
    std::vector<std::size_t> waiting;
    for (std::size_t i = 0; i < study.claims.size(); ++i) {
      if (study.claims[i].waiting) waiting.push_back(i);
    }
    std::mt19937_64 generator(*options.settle_seed + study.events.size());
    std::shuffle(waiting.begin(), waiting.end(), generator);
    for (const std::size_t i : waiting) Train(study, study.claims[i]);
  }

  static void FinishIfDone(FakeStudy& study) {
    if (study.finished || study.trials.empty()) return;
    for (const FakeTrial& trial : study.trials) {
      if (trial.open) return;
    }
    for (const FakeClaim& claim : study.claims) {
      if (claim.waiting) return;
    }
    study.finished = true;
    study.AddEvent().mutable_study_finished();
  }

  grpc::Status CancelStudy(grpc::ServerContext*, const v1::CancelStudyRequest* request,
                           v1::CancelStudyResponse*) override {
    const std::lock_guard lock(mutex);
    return WithFaults([&] {
      FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      for (FakeTrial& trial : study->trials) Close(*study, trial, true);
      if (!study->finished) {
        study->finished = true;
        study->AddEvent().mutable_study_finished();
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override {
    std::unique_lock lock(mutex);
    auto next = static_cast<std::size_t>(std::max<std::int64_t>(request->from_event(), 1) - 1);
    int sent = 0;
    while (true) {
      const FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      if (stopping || context->IsCancelled()) return {grpc::StatusCode::UNAVAILABLE, "stopping"};
      if (options.events_per_stream > 0 && sent == options.events_per_stream) {
        return {grpc::StatusCode::UNAVAILABLE, "the stream breaks"};
      }
      if (next < study->events.size()) {
        v1::WatchResponse response;
        *response.mutable_event() = study->events[next++];
        ++sent;
        const bool last = response.event().has_study_finished();
        lock.unlock();
        if (!writer->Write(response) || last) return grpc::Status::OK;
        lock.lock();
        continue;
      }
      changed.wait_for(lock, std::chrono::milliseconds(20));  // also to see that the client has gone
    }
  }

  v1::StudySummary Summarize(const FakeStudy& study) const {
    v1::StudySummary summary;
    summary.set_study_id(study.id);
    summary.set_name(study.specification.name());
    summary.set_state(study.finished ? "finished" : "running");
    summary.set_goal(study.specification.goal());
    summary.set_trainer(study.specification.trainer());
    summary.set_scope(study.specification.scope());
    summary.set_definition(study.specification.definition());
    std::int64_t claimed = 0;
    for (const FakeTrial& trial : study.trials) {
      ++(*summary.mutable_trials_by_state())[StateOf(study, trial)];
      claimed += trial.last_claim;
      for (const auto& [step, metrics] : trial.evaluations) {
        const auto metric = metrics.find(study.specification.metric());
        if (metric == metrics.end()) continue;
        const bool maximize = study.specification.goal() == v1::GOAL_MAXIMIZE;
        const bool better = !summary.has_best() || (maximize ? metric->second > summary.best().value()
                                                             : metric->second < summary.best().value());
        if (!better) continue;
        summary.mutable_best()->set_trial_id(trial.id);
        summary.mutable_best()->set_metric(study.specification.metric());
        summary.mutable_best()->set_value(metric->second);
        summary.mutable_best()->set_step(step);
      }
    }
    summary.mutable_steps()->set_claimed(claimed);
    summary.mutable_steps()->set_unique(claimed);
    summary.mutable_steps()->set_trained(claimed);
    summary.set_merge_rate(claimed > 0 ? 1 : 0);
    summary.set_time_weighted_merge_rate(claimed > 0 ? 1 : 0);
    summary.set_slot_seconds(static_cast<double>(claimed) * 0.05);
    summary.set_elapsed_seconds(static_cast<double>(claimed) * 0.03);
    return summary;
  }

  grpc::Status ListTrainers(grpc::ServerContext*, const v1::ListTrainersRequest*,
                            v1::ListTrainersResponse* response) override {
    for (const v1::TrainerDescription& trainer : options.trainers) *response->add_trainers() = trainer;
    return grpc::Status::OK;
  }

  grpc::Status ListServers(grpc::ServerContext*, const v1::ListServersRequest*,
                           v1::ListServersResponse* response) override {
    v1::Server& fake = *response->add_servers();
    fake.set_name("fake");
    fake.set_connected(true);
    fake.set_slot_count(2);
    fake.set_device_kind("memory");
    return grpc::Status::OK;
  }

  grpc::Status ListStudies(grpc::ServerContext*, const v1::ListStudiesRequest*,
                           v1::ListStudiesResponse* response) override {
    const std::lock_guard lock(mutex);
    for (auto study = studies.rbegin(); study != studies.rend(); ++study) *response->add_studies() = Summarize(*study);
    return grpc::Status::OK;
  }

  grpc::Status GetStudy(grpc::ServerContext*, const v1::GetStudyRequest* request,
                        v1::GetStudyResponse* response) override {
    const std::lock_guard lock(mutex);
    for (auto study = studies.rbegin(); study != studies.rend(); ++study) {
      const bool wanted =
          request->study_id() != 0 ? study->id == request->study_id() : study->specification.name() == request->name();
      if (!wanted) continue;
      *response->mutable_study() = Summarize(*study);
      return grpc::Status::OK;
    }
    return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
  }

  grpc::Status ListTrials(grpc::ServerContext*, const v1::ListTrialsRequest* request,
                          v1::ListTrialsResponse* response) override {
    const std::lock_guard lock(mutex);
    for (const FakeStudy& study : studies) {
      const bool wanted = request->study_id() != 0 ? study.id == request->study_id()
                                                   : study.specification.name() == request->study_name();
      if (!wanted) continue;
      ListTrialsOf(study, *request, *response);
      return grpc::Status::OK;
    }
    return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
  }

  // Pages as the real one gives them, though of at most two; the token is a number.
  static void ListTrialsOf(const FakeStudy& study, const v1::ListTrialsRequest& request,
                           v1::ListTrialsResponse& response) {
    std::vector<v1::Trial> trials;
    for (const FakeTrial& trial : study.trials) {
      const std::string state = StateOf(study, trial);
      const auto& states = request.states();
      if (states.empty() || std::find(states.begin(), states.end(), state) != states.end()) {
        trials.push_back(ViewOf(study, trial));
      }
    }
    if (request.order() == v1::TRIAL_ORDER_METRIC) {
      std::stable_sort(trials.begin(), trials.end(), [](const v1::Trial& a, const v1::Trial& b) {
        return a.has_metric() && (!b.has_metric() || a.metric() > b.metric());
      });
    }
    const std::size_t begin = request.page_token().empty() ? 0 : std::stoull(request.page_token());
    const std::size_t end = std::min<std::size_t>(trials.size(), begin + (request.page_size() == 1 ? 1 : 2));
    for (std::size_t i = begin; i < end; ++i) *response.add_trials() = trials[i];
    if (end < trials.size()) response.set_next_page_token(std::to_string(end));
  }

  static v1::Trial ViewOf(const FakeStudy& study, const FakeTrial& trial) {
    v1::Trial view;
    view.set_trial_id(trial.id);
    view.set_state(StateOf(study, trial));
    view.mutable_sequences()->insert(trial.sequences.begin(), trial.sequences.end());
    view.set_horizon_steps(trial.horizon);
    for (const auto& [step, metrics] : trial.evaluations) {
      v1::TrialEvaluation& evaluation = *view.add_evaluations();
      evaluation.set_step(step);
      evaluation.mutable_metrics()->insert(metrics.begin(), metrics.end());
      view.set_steps(step);
      view.set_state_sha256(std::string(63, '0') + std::to_string(step % 10));
      const auto metric = metrics.find(study.specification.metric());
      if (metric != metrics.end()) view.set_metric(metric->second);
    }
    return view;
  }

  grpc::Status GetTrial(grpc::ServerContext*, const v1::GetTrialRequest* request,
                        v1::GetTrialResponse* response) override {
    const std::lock_guard lock(mutex);
    for (const FakeStudy& study : studies) {
      for (const FakeTrial& trial : study.trials) {
        if (trial.id != request->trial_id()) continue;
        *response->mutable_trial() = ViewOf(study, trial);
        *response->mutable_metrics() = response->trial().evaluations();
        return grpc::Status::OK;
      }
    }
    return Refuse(grpc::StatusCode::NOT_FOUND, "no trial of that id");
  }

  grpc::Status GetPlan(grpc::ServerContext*, const v1::GetPlanRequest* request,
                       v1::GetPlanResponse* response) override {
    const std::lock_guard lock(mutex);
    const FakeStudy* study = Find(request->study_id());
    if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
    for (const FakeTrial& trial : study->trials) {
      v1::PlanNode& node = *response->add_nodes();
      node.set_plan_node_id(trial.id);
      node.mutable_functions()->insert(trial.sequences.begin(), trial.sequences.end());
      node.set_trial_count(1);
      const std::int64_t trained = trial.evaluations.empty() ? 0 : trial.evaluations.rbegin()->first;
      const auto add_stage = [&](std::int64_t from, std::int64_t to, const char* state) {
        if (from == to) return;
        v1::StageView& stage = *node.add_stages();
        stage.set_from_step(from);
        stage.set_to_step(to);
        stage.set_state(state);
      };
      add_stage(0, trained, "trained");
      add_stage(trained, trial.last_claim, "waiting");
      if (trial.open) add_stage(trial.last_claim, trial.horizon, "planned");
    }
    return grpc::Status::OK;
  }

  grpc::Status Forecast(grpc::ServerContext*, const v1::ForecastRequest* request,
                        v1::ForecastResponse* response) override {
    bool known = true;
    for (const v1::ForecastStudy& study : request->studies()) {
      known = known && study.study().trainer() != "synthetic";
      v1::StudyForecast& forecast = *response->add_studies();
      forecast.set_name(study.study().name());
      forecast.set_trials(study.trials_size());
      for (const v1::NewTrial& trial : study.trials()) {
        forecast.set_total_steps(forecast.total_steps() + trial.horizon_steps());
      }
      forecast.set_unique_steps(forecast.total_steps());
      forecast.set_merge_rate(1);
      response->set_trials(response->trials() + forecast.trials());
      response->set_total_steps(response->total_steps() + forecast.total_steps());
    }
    response->set_unique_steps(response->total_steps());
    response->set_merge_rate(1);
    response->set_trained_steps(0);
    response->set_remaining_steps(response->total_steps());
    response->set_near_miss_count(1);
    v1::NearMiss& pair = *response->add_near_misses();
    pair.set_hyper_parameter("lr");
    pair.set_first("MultiStep(0.1, [2], gamma=0.1)");
    pair.set_second("Piecewise([0.1, 0.01], [2])");
    pair.set_from_step(2);
    pair.set_difference(1.7e-18);
    if (!known) return grpc::Status::OK;  // nothing of the kind was measured
    response->set_slot_seconds(2.5);
    response->set_critical_path_seconds(1.5);
    response->set_checkpoint_bytes(1000);
    return grpc::Status::OK;
  }
};

FakeMaster::FakeMaster(FakeMasterOptions options) : parts_(std::make_unique<Parts>(std::move(options))) { Serve(); }

FakeMaster::~FakeMaster() {
  Stop();
  unlink(parts_->options.socket_path.c_str());
}

std::string FakeMaster::address() const { return "unix:" + parts_->options.socket_path; }

void FakeMaster::Stop() {
  {
    const std::lock_guard lock(parts_->mutex);
    parts_->stopping = true;
    parts_->changed.notify_all();
  }
  if (parts_->server != nullptr) {
    parts_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
    parts_->server->Wait();
  }
  parts_->server.reset();
}

void FakeMaster::Serve() {
  parts_->stopping = false;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address(), grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(static_cast<v1::StudyService::Service*>(parts_.get()));
  builder.RegisterService(static_cast<v1::InspectService::Service*>(parts_.get()));
  parts_->server = builder.BuildAndStart();
}

void FakeMaster::FailNext(int count, Fault fault) {
  const std::lock_guard lock(parts_->mutex);
  parts_->failing_calls = count;
  parts_->fault = fault;
}

bool FakeMaster::Settle(std::size_t n) {
  const std::lock_guard lock(parts_->mutex);
  std::vector<std::pair<FakeStudy*, FakeClaim*>> waiting;
  for (FakeStudy& study : parts_->studies) {
    for (FakeClaim& claim : study.claims) {
      if (claim.waiting) waiting.emplace_back(&study, &claim);
    }
  }
  if (waiting.empty()) return false;
  const auto [study, claim] = waiting[n % waiting.size()];
  parts_->Train(*study, *claim);
  parts_->FinishIfDone(*study);
  parts_->changed.notify_all();
  return true;
}

void FakeMaster::WaitForWaitingClaims(std::size_t count) {
  std::unique_lock lock(parts_->mutex);
  parts_->changed.wait(lock, [&] {
    std::size_t waiting = 0;
    for (const FakeStudy& study : parts_->studies) {
      waiting += static_cast<std::size_t>(std::count_if(study.claims.begin(), study.claims.end(),
                                                        [](const FakeClaim& claim) { return claim.waiting; }));
    }
    return waiting >= count;
  });
}

std::vector<v1::SubmitRequest> FakeMaster::submissions() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->submissions;
}

std::vector<v1::CreateStudyRequest> FakeMaster::creations() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->creations;
}

v1::TrainerDescription MlpTrainer() {
  v1::TrainerDescription trainer;
  trainer.set_name("mlp");
  trainer.set_code_digest("mlp 1");
  trainer.set_data("digits");
  trainer.set_data_digest("digits 1");
  trainer.set_evaluation_digest("digits 1");
  const auto add = [&](const std::string& name, v1::ValueType type, bool initial) -> v1::Value& {
    v1::HyperParameter& hyper_parameter = *trainer.add_hyper_parameters();
    hyper_parameter.set_name(name);
    hyper_parameter.set_type(type);
    hyper_parameter.set_initial(initial);
    return *hyper_parameter.mutable_default_value();
  };
  add("bs", v1::VALUE_TYPE_INTEGER, false).set_integer(64);
  add("dropout", v1::VALUE_TYPE_FLOATING, false).set_floating(0);
  add("hidden", v1::VALUE_TYPE_INTEGER, true).set_integer(128);
  add("lr", v1::VALUE_TYPE_FLOATING, false).set_floating(0.1);
  add("momentum", v1::VALUE_TYPE_FLOATING, false).set_floating(0.9);
  add("optimizer", v1::VALUE_TYPE_TEXT, false).set_text("sgd");
  add("seed", v1::VALUE_TYPE_INTEGER, true).set_integer(0);
  add("weight_decay", v1::VALUE_TYPE_FLOATING, false).set_floating(0);
  trainer.add_metrics("test_acc");
  trainer.add_metrics("test_loss");
  return trainer;
}

}  // namespace espalier::testing
