#include "tests/support/fake_master.h"

#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/digest.h"
#include "espalier/v1/checkpoint.grpc.pb.h"
#include "espalier/v1/inspect.grpc.pb.h"
#include "espalier/v1/study.grpc.pb.h"
#include "tests/support/fake_views.h"
#include "tests/support/fake_watch.h"

namespace espalier::testing {
struct FakeMaster::Parts final : v1::StudyService::Service,
                                 v1::InspectService::Service,
                                 v1::CheckpointService::Service {
  explicit Parts(FakeMasterOptions options_in) : options(std::move(options_in)) {}

  FakeMasterOptions options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<FakeStudy> studies;
  // By request id: its content, and what it was answered.
  std::map<std::string, std::pair<std::string, v1::CreateStudyResponse>> creation_answers;
  std::vector<v1::SubmitRequest> submissions;
  std::vector<v1::CreateStudyRequest> creations;
  std::vector<v1::RetryStageRequest> retries;
  std::vector<v1::ContinueTrialRequest> continuations;
  std::vector<v1::TrainerReference> references;
  std::vector<std::string> archives;
  std::size_t trainer_looks = 0;
  int studies_streams = 0;
  int watches_begun = 0;
  int broken_streams = 0;  // the first so many
  std::int64_t next_id = 1;
  int spared_calls = 0;  // of the next mutations, before those that fail
  int failing_calls = 0;
  Fault fault = Fault::kBefore;
  bool stopping = false;
  std::unique_ptr<grpc::Server> server;

  FakeStudy* Find(std::int64_t id) {
    for (FakeStudy& study : studies) {
      if (study.id() == id) return &study;
    }
    return nullptr;
  }

  template <class T>
  T Copy(T Parts::*member) const {
    const std::lock_guard lock(mutex);
    return this->*member;
  }

  // Wraps a mutation in the faults that were asked for. REQUIRES: mutex is held.
  template <class Mutation>
  grpc::Status WithFaults(Mutation&& mutation) {
    const bool fails = spared_calls == 0 && failing_calls > 0;
    if (spared_calls > 0) --spared_calls;
    if (fails) --failing_calls;
    grpc::Status unavailable(grpc::StatusCode::UNAVAILABLE, "the fake master was told to fail");
    if (fails && fault == Fault::kBefore) return unavailable;
    grpc::Status status = mutation();
    changed.notify_all();
    return fails ? unavailable : status;
  }

  grpc::Status CreateStudy(grpc::ServerContext*, const v1::CreateStudyRequest* request,
                           v1::CreateStudyResponse* response) override {
    const std::lock_guard lock(mutex);
    creations.push_back(*request);
    return WithFaults([&] {
      const std::string content = request->study().SerializeAsString();
      if (const auto answer = creation_answers.find(request->request_id()); answer != creation_answers.end()) {
        *response = answer->second.second;
        if (answer->second.first == content) return grpc::Status::OK;
        return Refuse(grpc::StatusCode::ALREADY_EXISTS, "this request id had other content", "request_id");
      }
      for (const FakeStudy& study : studies) {
        if (study.finished() || study.specification().name() != request->study().name()) continue;
        if (study.specification().SerializeAsString() != content) {
          return Refuse(grpc::StatusCode::ALREADY_EXISTS, "a running study of that name has other content", "study");
        }
        response->set_study_id(study.id());
        response->set_attached(true);
        return grpc::Status::OK;
      }
      response->set_study_id(studies.emplace_back(next_id++, request->study()).id());
      creation_answers[request->request_id()] = {content, *response};
      return grpc::Status::OK;
    });
  }

  grpc::Status Submit(grpc::ServerContext*, const v1::SubmitRequest* request, v1::SubmitResponse* response) override {
    const std::lock_guard lock(mutex);
    submissions.push_back(*request);
    return WithFaults([&] {
      FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      grpc::Status status = study->Submit(*request, next_id, *response);
      if (status.ok() && options.settle_seed.has_value()) study->SettleAll(options.train, *options.settle_seed);
      study->FinishIfDone();
      return status;
    });
  }

  grpc::Status CancelStudy(grpc::ServerContext*, const v1::CancelStudyRequest* request,
                           v1::CancelStudyResponse*) override {
    const std::lock_guard lock(mutex);
    return WithFaults([&] {
      FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      study->Cancel();
      return grpc::Status::OK;
    });
  }

  grpc::Status PinStudy(grpc::ServerContext*, const v1::PinStudyRequest* request, v1::PinStudyResponse*) override {
    const std::lock_guard lock(mutex);
    return WithFaults([&] {
      FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      study->Pin(request->keep());
      return grpc::Status::OK;
    });
  }

  // Each continuation is a trial of its own: as long as it says, else one step past where it begins.
  grpc::Status ContinueTrial(grpc::ServerContext*, const v1::ContinueTrialRequest* request,
                             v1::ContinueTrialResponse* response) override {
    const std::lock_guard lock(mutex);
    continuations.push_back(*request);
    return WithFaults([&] {
      v1::SubmitRequest submission;
      submission.set_finish(true);
      for (const v1::Continuation& each : request->continuations()) {
        v1::NewTrial& trial = *submission.add_new_trials();
        trial.mutable_sequences()->insert(each.sequences().begin(), each.sequences().end());
        trial.mutable_sequences()->insert({"lr", "0.5"});  // where it does not change
        trial.set_steps(each.steps() > 0 ? each.steps() : each.from_step() + 1);
      }
      v1::StudySpecification specification;
      specification.set_name(request->name());
      FakeStudy& study = studies.emplace_back(next_id++, specification);
      v1::SubmitResponse submitted;
      grpc::Status status = study.Submit(submission, next_id, submitted);
      if (options.settle_seed.has_value()) study.SettleAll(options.train, *options.settle_seed);
      study.FinishIfDone();
      response->set_study_id(study.id());
      *response->mutable_trial_ids() = submitted.trial_ids();
      *response->mutable_claim_ids() = submitted.claim_ids();
      return status;
    });
  }

  grpc::Status RetryStage(grpc::ServerContext*, const v1::RetryStageRequest* request,
                          v1::RetryStageResponse* response) override {
    const std::lock_guard lock(mutex);
    retries.push_back(*request);
    return WithFaults([&] {
      if (options.stage.state().empty()) return Refuse(grpc::StatusCode::NOT_FOUND, "no such stage", "stage");
      *response = options.retried;
      return grpc::Status::OK;
    });
  }

  grpc::Status ExplainStage(grpc::ServerContext*, const v1::ExplainStageRequest* request,
                            v1::ExplainStageResponse* response) override {
    if (options.stage.state().empty()) return Refuse(grpc::StatusCode::NOT_FOUND, "no such stage", "stage");
    *response = options.stage;
    if (request->has_point()) *response->mutable_point() = request->point();
    return grpc::Status::OK;
  }

  grpc::Status PutArchive(grpc::ServerContext*, const v1::PutArchiveRequest* request,
                          v1::PutArchiveResponse*) override {
    const std::lock_guard lock(mutex);
    archives.push_back(request->archive());
    return grpc::Status::OK;
  }

  grpc::Status DescribeTrainer(grpc::ServerContext*, const v1::DescribeTrainerRequest* request,
                               v1::DescribeTrainerResponse* response) override {
    const std::lock_guard lock(mutex);
    const v1::TrainerReference& reference = references.emplace_back(request->reference());
    const auto is_its = [&](const std::string& archive) { return Sha256Hex(archive) == reference.archive_sha256(); };
    if (!reference.archive_sha256().empty() && std::ranges::none_of(archives, is_its)) {
      return Refuse(grpc::StatusCode::NOT_FOUND, "the archive is not stored");
    }
    response->set_reference_digest("digest of " + reference.entry());
    return grpc::Status::OK;
  }

  grpc::Status GetTrainer(grpc::ServerContext*, const v1::GetTrainerRequest*,
                          v1::GetTrainerResponse* response) override {
    const std::lock_guard lock(mutex);
    *response = options.described.at(std::min(trainer_looks++, options.described.size() - 1));
    return grpc::Status::OK;
  }

  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest* request,
                     grpc::ServerWriter<v1::WatchResponse>* writer) override {
    std::unique_lock lock(mutex);
    auto next = static_cast<std::size_t>(std::max<std::int64_t>(request->from_event(), 1) - 1);
    int sent = 0;
    bool caught_up = false;
    while (true) {
      const FakeStudy* study = Find(request->study_id());
      if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
      if (request->from_event() < 0) return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "no event has such a number");
      if (sent == 0 && !study->IsAt(*request)) {
        return Refuse(grpc::StatusCode::FAILED_PRECONDITION, "no such event");
      }
      if (stopping || context->IsCancelled()) return {grpc::StatusCode::UNAVAILABLE, "stopping"};
      if (options.events_per_stream > 0 && sent == options.events_per_stream) {
        return {grpc::StatusCode::UNAVAILABLE, "the stream breaks"};
      }
      if (next < study->events().size()) {
        v1::WatchResponse response;  // of one event, then of up to three
        const std::size_t end = std::min(study->events().size(), next + 1 + next % 3);
        while (next < end && (options.events_per_stream == 0 || sent < options.events_per_stream)) {
          *response.add_events() = study->events()[next++];
          ++sent;
        }
        const bool last = response.events().rbegin()->has_study_finished();
        lock.unlock();
        if (!writer->Write(response) || last) return grpc::Status::OK;
        lock.lock();
        continue;
      }
      if (!caught_up) {
        v1::WatchResponse response;
        response.mutable_progress()->set_seconds_left(-1);
        caught_up = true;
        lock.unlock();
        if (!writer->Write(response)) return grpc::Status::OK;
        lock.lock();
        continue;
      }
      changed.wait_for(lock, std::chrono::milliseconds(20));  // also to see that the client has gone
    }
  }

  grpc::Status WatchStudies(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::WatchStudiesResponse, v1::WatchStudiesRequest>* stream) override {
    std::map<std::int64_t, FakeWatch> watches;
    bool is_over = false;
    std::thread reading([&] {
      v1::WatchStudiesRequest request;
      while (stream->Read(&request)) {
        const std::lock_guard lock(mutex);
        watches.erase(request.watch_id());
        if (!request.has_begin()) continue;
        const std::int64_t from = std::max<std::int64_t>(request.begin().from_event(), 1);
        const FakeStudy* study = Find(request.begin().study_id());
        watches[request.watch_id()] = {.study = request.begin().study_id(),
                                       .next = static_cast<std::size_t>(from - 1),
                                       .is_elsewhere = study != nullptr && !study->IsAt(request.begin())};
        ++watches_begun;
        changed.notify_all();
      }
      const std::lock_guard lock(mutex);
      is_over = true;
      changed.notify_all();
    });
    std::unique_lock lock(mutex);
    const int number = ++studies_streams;
    std::size_t sent = 0;
    while (!is_over && !stopping && number > broken_streams) {
      v1::WatchStudiesResponse response;
      for (auto it = watches.begin(); it != watches.end(); ++it) {
        if (!it->second.Next(Find(it->second.study), response)) continue;
        response.set_watch_id(it->first);
        if (response.has_ended()) watches.erase(it);
        break;
      }
      if (response.watch_id() == 0) {
        changed.wait_for(lock, std::chrono::milliseconds(20));
        continue;
      }
      sent += static_cast<std::size_t>(response.events_size());
      lock.unlock();
      stream->Write(response);
      lock.lock();
      if (options.events_per_stream > 0 && sent >= static_cast<std::size_t>(options.events_per_stream)) break;
    }
    lock.unlock();
    context->TryCancel();
    reading.join();
    return {grpc::StatusCode::UNAVAILABLE, "the stream breaks"};
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
    fake.add_device_kinds("memory");
    return grpc::Status::OK;
  }

  grpc::Status ListStudies(grpc::ServerContext*, const v1::ListStudiesRequest* request,
                           v1::ListStudiesResponse* response) override {
    const std::lock_guard lock(mutex);
    *response = testing::ListStudies(studies, *request);
    return grpc::Status::OK;
  }

  grpc::Status GetStudy(grpc::ServerContext*, const v1::GetStudyRequest* request,
                        v1::GetStudyResponse* response) override {
    const std::lock_guard lock(mutex);
    for (auto study = studies.rbegin(); study != studies.rend(); ++study) {
      const bool wanted = request->study_id() != 0 ? study->id() == request->study_id()
                                                   : study->specification().name() == request->name();
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
      const bool wanted = request->study_id() != 0 ? study.id() == request->study_id()
                                                   : study.specification().name() == request->study_name();
      if (!wanted) continue;
      *response = testing::ListTrials(study, *request);
      return grpc::Status::OK;
    }
    return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
  }

  // A trial of any study, and its study.
  grpc::Status WithTrial(std::int64_t id, const std::function<void(const FakeStudy&, const FakeTrial&)>& take) {
    const std::lock_guard lock(mutex);
    for (const FakeStudy& study : studies) {
      for (const FakeTrial& trial : study.trials()) {
        if (trial.id != id) continue;
        take(study, trial);
        return grpc::Status::OK;
      }
    }
    return Refuse(grpc::StatusCode::NOT_FOUND, "no trial of that id");
  }

  grpc::Status GetTrial(grpc::ServerContext*, const v1::GetTrialRequest* request,
                        v1::GetTrialResponse* response) override {
    return WithTrial(request->trial_id(), [&](const FakeStudy& study, const FakeTrial& trial) {
      *response->mutable_trial() = ViewOf(study, trial);
      *response->mutable_metrics() = response->trial().evaluations();
      response->set_study_id(study.id());
    });
  }

  grpc::Status ListCheckpoints(grpc::ServerContext*, const v1::ListCheckpointsRequest* request,
                               v1::ListCheckpointsResponse* response) override {
    return WithTrial(request->trial_id(),
                     [&](const FakeStudy&, const FakeTrial& trial) { *response = CheckpointsOf(trial); });
  }

  grpc::Status GetTrainingMetrics(grpc::ServerContext*, const v1::GetTrainingMetricsRequest* request,
                                  v1::GetTrainingMetricsResponse* response) override {
    const std::lock_guard lock(mutex);
    *response = TrainingMetricsBehind(request->after());
    return grpc::Status::OK;
  }

  grpc::Status GetPlan(grpc::ServerContext*, const v1::GetPlanRequest* request,
                       v1::GetPlanResponse* response) override {
    const std::lock_guard lock(mutex);
    const FakeStudy* study = Find(request->study_id());
    if (study == nullptr) return Refuse(grpc::StatusCode::NOT_FOUND, "no such study");
    *response = PlanOf(*study);
    return grpc::Status::OK;
  }

  grpc::Status Forecast(grpc::ServerContext*, const v1::ForecastRequest* request,
                        v1::ForecastResponse* response) override {
    *response = ForecastOf(*request);
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
  builder.RegisterService(static_cast<v1::CheckpointService::Service*>(parts_.get()));
  parts_->server = builder.BuildAndStart();
}

void FakeMaster::FailNext(int count, Fault fault, int spared) {
  const std::lock_guard lock(parts_->mutex);
  parts_->spared_calls = spared;
  parts_->failing_calls = count;
  parts_->fault = fault;
}

std::unique_lock<std::mutex> FakeMaster::Freeze() { return std::unique_lock(parts_->mutex); }

bool FakeMaster::Settle(std::size_t n) {
  const std::lock_guard lock(parts_->mutex);
  std::vector<std::pair<FakeStudy*, FakeClaim*>> waiting;
  for (FakeStudy& study : parts_->studies) {
    for (FakeClaim* claim : study.WaitingClaims()) waiting.emplace_back(&study, claim);
  }
  if (waiting.empty()) return false;
  const auto [study, claim] = waiting[n % waiting.size()];
  study->Settle(*claim, parts_->options.train);
  study->FinishIfDone();
  parts_->changed.notify_all();
  return true;
}

void FakeMaster::BreakStreams() {
  const std::lock_guard lock(parts_->mutex);
  parts_->broken_streams = parts_->studies_streams;
  parts_->changed.notify_all();
}

void FakeMaster::HappenAgain(std::int64_t study) {
  const std::lock_guard lock(parts_->mutex);
  parts_->Find(study)->HappenAgain();
}

void FakeMaster::WaitForWaitingClaims(std::size_t count) {
  std::unique_lock lock(parts_->mutex);
  parts_->changed.wait(lock, [&] {
    std::size_t waiting = 0;
    for (FakeStudy& study : parts_->studies) waiting += study.WaitingClaims().size();
    return waiting >= count;
  });
}

std::vector<v1::SubmitRequest> FakeMaster::submissions() const { return parts_->Copy(&Parts::submissions); }

std::vector<v1::RetryStageRequest> FakeMaster::retries() const { return parts_->Copy(&Parts::retries); }

std::vector<v1::ContinueTrialRequest> FakeMaster::continuations() const { return parts_->Copy(&Parts::continuations); }

std::vector<v1::CreateStudyRequest> FakeMaster::creations() const { return parts_->Copy(&Parts::creations); }

int FakeMaster::studies_streams() const { return parts_->Copy(&Parts::studies_streams); }

int FakeMaster::watches_begun() const { return parts_->Copy(&Parts::watches_begun); }

std::vector<v1::TrainerReference> FakeMaster::references() const { return parts_->Copy(&Parts::references); }

std::vector<std::string> FakeMaster::archives() const { return parts_->Copy(&Parts::archives); }

}  // namespace espalier::testing
