// A call of every RPC there is, and a service of two teams to make them of.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/server.pb.h"
#include "espalier/v1/study.pb.h"
#include "espalier/v1/tuner.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"
#include "tests/unit/rpc/tls_door.h"

namespace espalier::master::testing {

template <class Message>
Message Make(void (*fill)(Message&)) {
  Message message;
  fill(message);
  return message;
}

// Ann's study: the first of its service, with one trial, the first too. None of this may reach another team.
inline constexpr char kUserName[] = "ann.secret";
inline constexpr char kStudyName[] = "annstudy";
inline constexpr char kSequence[] = "0.123456789";
inline constexpr double kScore = 0.987654321;

inline v1::StudySpecification AnnsStudy(v1::Scope scope) {
  v1::StudySpecification study;
  study.set_name(kStudyName);
  study.set_trainer("toy");
  study.set_metric("score");
  study.set_scope(scope);
  return study;
}

inline v1::SubmitRequest AnnsTrial(std::int64_t study_id) {
  v1::SubmitRequest request;
  request.set_request_id("1");
  request.set_study_id(study_id);
  v1::NewTrial& trial = *request.add_new_trials();
  (*trial.mutable_sequences())["lr"] = kSequence;
  trial.set_steps(7);
  request.set_finish(true);
  return request;
}

inline v1::ForecastRequest SameForecast(v1::Scope scope) {
  v1::ForecastRequest request;
  v1::ForecastStudy& study = *request.add_studies();
  *study.mutable_study() = AnnsStudy(scope);
  *study.add_trials() = AnnsTrial(1).new_trials(0);
  return request;
}

struct Case {
  std::string method;
  std::shared_ptr<google::protobuf::Message> request;
};

template <class Message>
Case MakeCase(std::string method, Message message) {
  return {std::move(method), std::make_shared<Message>(std::move(message))};
}

template <class Message>
Case OfStudy(std::string method) {
  Message message;
  message.set_study_id(1);
  return MakeCase(std::move(method), std::move(message));
}

inline std::vector<Case> CasesOfTunerHosts() {
  return {MakeCase("TunerService/FindStudy", v1::FindStudyRequest()), MakeCase("TunerService/Submit", AnnsTrial(1)),
          OfStudy<v1::WatchRequest>("TunerService/Watch")};
}

// What its user alone may ask for, but for new trials.
inline std::vector<Case> ChangesOfTheStudy() {
  std::vector<Case> cases;
  for (const auto& fill : std::vector<void (*)(v1::SubmitRequest&)>{
           [](auto& submit) { submit.add_claims()->set_trial_id(1); },
           [](auto& submit) { submit.add_cancel_trial_ids(1); },
           [](auto& submit) { submit.add_close_trial_ids(1); },
       }) {
    v1::SubmitRequest submit;
    submit.set_request_id("2");
    submit.set_study_id(1);
    fill(submit);
    cases.push_back(MakeCase("StudyService/Submit", std::move(submit)));
  }
  cases.push_back(MakeCase("StudyService/CancelStudy", Make<v1::CancelStudyRequest>([](auto& cancel) {
                             cancel.set_request_id("3");
                             cancel.set_study_id(1);
                           })));
  cases.push_back(MakeCase("StudyService/PinStudy", Make<v1::PinStudyRequest>([](auto& pin) {
                             pin.set_request_id("4");
                             pin.set_study_id(1);
                             pin.set_keep(v1::KEEP_NONE);
                           })));
  cases.push_back(MakeCase("StudyService/WeighStudy", Make<v1::WeighStudyRequest>([](auto& weigh) {
                             weigh.set_request_id("5");
                             weigh.set_study_id(1);
                             weigh.set_weight(2);
                           })));
  return cases;
}

inline std::vector<Case> CasesOfNodeManagers() {
  return {
      MakeCase("NodeManagerService/GetReference",
               Make<v1::GetReferenceRequest>([](auto& get) { get.set_reference_digest(std::string(32, 'a')); })),
      MakeCase("NodeManagerService/PutOutput", Make<v1::PutOutputRequest>([](auto& put) {
                 put.mutable_run()->set_leadership_id(77);
                 put.mutable_run()->set_run_id(1);
                 put.add_pieces()->set_text("printed");
               })),
      MakeCase("NodeManagerService/PutServerLog", Make<v1::PutServerLogRequest>([](auto& put) {
                 put.set_server("another");
                 put.set_text("logged");
               })),
      MakeCase("NodeManagerService/Synchronize", ToyNode::FirstRequest()),
  };
}

inline std::vector<Case> CasesOfAdministrators() {
  return {
      MakeCase("ServerService/DrainServer", Make<v1::DrainServerRequest>([](auto& drain) {
                 drain.set_request_id("1");
                 drain.set_server("another");
               })),
      MakeCase("ServerService/SetPolicy", Make<v1::SetPolicyRequest>([](auto& set) {
                 set.set_request_id("2");
                 set.set_policy("throughput");
               })),
      MakeCase("ServerService/GetServerLog", Make<v1::GetServerLogRequest>([](auto& get) { get.set_server("a"); })),
      MakeCase("UserService/WeighTeam", Make<v1::WeighTeamRequest>([](auto& weigh) {
                 weigh.set_request_id("1");
                 weigh.set_team("vision");
                 weigh.set_weight(2);
               })),
      MakeCase("UserService/SetQuota", Make<v1::SetQuotaRequest>([](auto& set) {
                 set.set_request_id("1");
                 set.set_team("vision");
                 set.mutable_open_trials()->set_at_most(1000);
               })),
      MakeCase("UserService/ListUsers", v1::ListUsersRequest()),
      MakeCase("UserService/RemoveUser", Make<v1::RemoveUserRequest>([](auto& remove) {
                 remove.set_request_id("1");
                 remove.set_name("zoe");
               })),
      MakeCase("UserService/AddUser", Make<v1::AddUserRequest>([](auto& add) {
                 add.set_request_id("1");
                 add.set_name("mallory");
                 add.set_team("vision");
                 add.set_token_sha256(std::string(64, 'a'));
               })),
  };
}

// Everything that a caller of another team could ask about ann's study; what creates a study comes last.
inline std::vector<Case> CasesOf(v1::Scope scope) {
  std::vector<Case> cases = {
      OfStudy<v1::WatchRequest>("StudyService/Watch"),
      MakeCase("StudyService/WatchStudies", Make<v1::WatchStudiesRequest>([](auto& watch) {
                 watch.set_watch_id(7);
                 watch.mutable_begin()->set_study_id(1);
               })),
      OfStudy<v1::GetStudyRequest>("InspectService/GetStudy"),
      OfStudy<v1::ListTrialsRequest>("InspectService/ListTrials"),
      OfStudy<v1::GetPlanRequest>("InspectService/GetPlan"),
      OfStudy<v1::ListRunsRequest>("InspectService/ListRuns"),
      OfStudy<v1::ListEventsRequest>("InspectService/ListEvents"),
      MakeCase("InspectService/ListTrials",
               Make<v1::ListTrialsRequest>([](auto& list) { list.set_study_name(kStudyName); })),
      MakeCase("InspectService/GetTrial", Make<v1::GetTrialRequest>([](auto& get) { get.set_trial_id(1); })),
      MakeCase("InspectService/GetTrialOutput",
               Make<v1::GetTrialOutputRequest>([](auto& get) { get.set_trial_id(1); })),
      MakeCase("InspectService/GetTrainingMetrics",
               Make<v1::GetTrainingMetricsRequest>([](auto& get) { get.set_trial_id(1); })),
      OfStudy<v1::ListCheckpointsRequest>("CheckpointService/ListCheckpoints"),
      MakeCase("CheckpointService/ListCheckpoints",
               Make<v1::ListCheckpointsRequest>([](auto& list) { list.set_trial_id(1); })),
      MakeCase("CheckpointService/FindOrphans",
               Make<v1::FindOrphansRequest>([](auto& find) { find.add_files("any"); })),
      MakeCase("StudyService/ContinueTrial", Make<v1::ContinueTrialRequest>([](auto& more) {
                 more.set_request_id("4");
                 more.set_trial_id(1);
                 more.set_name("more");
                 more.add_continuations()->set_steps(9);
               })),
      MakeCase("StudyService/RetryStage", Make<v1::RetryStageRequest>([](auto& retry) {
                 retry.set_request_id("5");
                 retry.set_plan_node_id(1);
                 retry.set_step(7);
               })),
      MakeCase("InspectService/ExplainStage", Make<v1::ExplainStageRequest>([](auto& explain) {
                 explain.mutable_point()->set_plan_node_id(1);
                 explain.mutable_point()->set_step(7);
               })),
      MakeCase("InspectService/ExplainStage",
               Make<v1::ExplainStageRequest>([](auto& explain) { explain.set_run_id(1); })),
      MakeCase("StudyService/Submit", AnnsTrial(1)),
      MakeCase("InspectService/GetStudy", Make<v1::GetStudyRequest>([](auto& get) { get.set_name(kStudyName); })),
      MakeCase("InspectService/Forecast", SameForecast(scope)),
      MakeCase("InspectService/ListStudies", v1::ListStudiesRequest()),
      MakeCase("InspectService/ListServers", v1::ListServersRequest()),
      MakeCase("UserService/ListQuotas", v1::ListQuotasRequest()),
      MakeCase("InspectService/ListTrainers", v1::ListTrainersRequest()),
      MakeCase("StudyService/PutArchive", Make<v1::PutArchiveRequest>([](auto& put) {
                 put.set_request_id("6");
                 put.set_archive("code");
               })),
      MakeCase("StudyService/DescribeTrainer", Make<v1::DescribeTrainerRequest>([](auto& describe) {
                 describe.set_request_id("7");
                 describe.mutable_reference()->set_entry("train.py:Digits");
                 describe.mutable_reference()->set_archive_sha256(Sha256Hex("code"));
                 describe.mutable_reference()->set_folder("/home/of-whom");
               })),
      MakeCase("InspectService/GetTrainer",
               Make<v1::GetTrainerRequest>([](auto& get) { get.set_reference_digest(std::string(32, 'a')); })),
      MakeCase("InspectService/GetMaster", v1::GetMasterRequest()),
      MakeCase("InspectService/GetPolicy", v1::GetPolicyRequest()),
  };
  for (const auto& more : {CasesOfNodeManagers(), CasesOfAdministrators(), CasesOfTunerHosts(), ChangesOfTheStudy()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  v1::CreateStudyRequest create;
  create.set_request_id("1");
  *create.mutable_study() = AnnsStudy(scope);
  cases.push_back(MakeCase("StudyService/CreateStudy", std::move(create)));
  return cases;
}

// A service of two teams: ann is of vision, bob of speech.
struct World {
  // Her whole study, trained to its end.
  void RunAnnsStudy(v1::Scope scope) {
    v1::CreateStudyRequest create;
    create.set_request_id("1");
    *create.mutable_study() = AnnsStudy(scope);
    REQUIRE(service.Get<v1::CreateStudyResponse>(ann, "StudyService/CreateStudy", create).study_id() == 1);
    service.Get<v1::SubmitResponse>(ann, "StudyService/Submit", AnnsTrial(1));
    v1::WatchRequest watch;
    watch.set_study_id(1);
    REQUIRE(service.Call(ann, "StudyService/Watch", watch).code == grpc::StatusCode::OK);  // to the last event
  }

  explicit World(Door door = {}) : service(true, std::move(door)) {}

  Service service;
  const std::string ann = service.AddUser(kUserName, "vision");
  const std::string bob = service.AddUser("bob", "speech");
  ToyNode node{service.channel, service.AddUser("node", "", v1::ROLE_NODE), kScore};
};

}  // namespace espalier::master::testing
