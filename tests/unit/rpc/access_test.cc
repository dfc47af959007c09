// Who may call what, and what another team's caller learns: of every RPC there is. A new RPC without a case here fails.
#include <algorithm>
#include <set>

#include "espalier/v1/checkpoint.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/server.pb.h"
#include "espalier/v1/study.pb.h"
#include "espalier/v1/tuner.pb.h"
#include "tests/unit/rpc/all_methods.h"
#include "tests/unit/rpc/service.h"
#include "tests/unit/rpc/tls_door.h"
#include "tests/unit/rpc/toy_node.h"

namespace espalier::master::testing {
namespace {

template <class Message>
Message Make(void (*fill)(Message&)) {
  Message message;
  fill(message);
  return message;
}

// Ann's study: the first of its service, with one trial, the first too. None of this may reach another team.
constexpr char kUserName[] = "ann.secret";
constexpr char kStudyName[] = "annstudy";
constexpr char kSequence[] = "0.123456789";
constexpr double kScore = 0.987654321;

v1::StudySpecification AnnsStudy(v1::Scope scope) {
  v1::StudySpecification study;
  study.set_name(kStudyName);
  study.set_trainer("toy");
  study.set_metric("score");
  study.set_scope(scope);
  return study;
}

v1::SubmitRequest AnnsTrial(std::int64_t study_id) {
  v1::SubmitRequest request;
  request.set_request_id("1");
  request.set_study_id(study_id);
  v1::NewTrial& trial = *request.add_new_trials();
  (*trial.mutable_sequences())["lr"] = kSequence;
  trial.set_steps(7);
  request.set_finish(true);
  return request;
}

v1::ForecastRequest SameForecast(v1::Scope scope) {
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

std::vector<Case> CasesOfTunerHosts() {
  return {MakeCase("TunerService/FindStudy", v1::FindStudyRequest()), MakeCase("TunerService/Submit", AnnsTrial(1)),
          OfStudy<v1::WatchRequest>("TunerService/Watch")};
}

// What its user alone may ask for, but for new trials.
std::vector<Case> ChangesOfTheStudy() {
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

std::vector<Case> CasesOfNodeManagers() {
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

std::vector<Case> CasesOfAdministrators() {
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
std::vector<Case> CasesOf(v1::Scope scope) {
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
  ToyNode node{service, service.AddUser("node", "", v1::ROLE_NODE), kScore};
};

std::vector<std::pair<std::string, Outcome>> Ask(World& world, const std::string& token, v1::Scope scope) {
  std::vector<std::pair<std::string, Outcome>> outcomes;
  for (const Case& each : CasesOf(scope)) {
    Outcome outcome = world.service.Call(token, each.method, *each.request);
    // Ids count up over all teams: a new study's tells that there are others.
    if (each.method == "StudyService/CreateStudy") {
      REQUIRE(outcome.responses.size() == 1);
      v1::CreateStudyResponse response;
      REQUIRE(response.ParseFromString(outcome.responses[0]));
      response.clear_study_id();
      outcome.responses[0] = response.SerializeAsString();
    }
    outcomes.emplace_back(each.method, std::move(outcome));
  }
  return outcomes;
}

void CheckTellsNothing(const std::string& method, const Outcome& outcome) {
  std::string all = outcome.message + outcome.details;
  for (const std::string& response : outcome.responses) all += response;
  const std::string score(reinterpret_cast<const char*>(&kScore), sizeof(kScore));  // as it travels
  for (const std::string& secret : {std::string(kUserName), std::string(kStudyName), std::string(kSequence), score,
                                    std::string("of-run"), std::string("vision")}) {
    INFO(method << " tells " << secret);
    CHECK(all.find(secret) == std::string::npos);
  }
}

bool IsForMembers(const std::string& method) {
  return method.starts_with("StudyService/") || method.starts_with("InspectService/") ||
         method == "CheckpointService/ListCheckpoints";
}

}  // namespace

TEST_CASE("there is a case for every RPC") {
  std::set<std::string> covered;
  for (const Case& each : CasesOf(v1::SCOPE_TEAM)) covered.insert(each.method);
  CHECK(covered == AllMethods());
}

TEST_CASE("every RPC is refused without a token, and with one that nobody has, saying what to do") {
  const espalier::testing::Certificates certificates;
  World world(GENERATE(false, true) ? TlsDoor(certificates) : Door{});
  for (const Case& each : CasesOf(v1::SCOPE_TEAM)) {
    INFO(each.method);
    const std::string path = "/espalier.v1." + each.method;
    const std::optional<std::string> none[] = {std::nullopt,        "", "Bearer ", world.ann, "Basic " + world.ann,
                                               "bearer" + world.ann};
    for (const auto& authorization : none) {
      const Outcome outcome = CallOnce(world.service.channel, path, *each.request, authorization);
      CHECK(outcome.code == grpc::StatusCode::UNAUTHENTICATED);
      CHECK(outcome.message.find("ESPALIER_TOKEN") != std::string::npos);
      CHECK(outcome.responses.empty());
    }
    for (const std::string& token :
         {NewToken(), std::string("x"), world.ann + "0", world.ann.substr(1), Sha256Hex(world.ann)}) {
      const Outcome outcome = world.service.Call(token, each.method, *each.request);
      CHECK(outcome.code == grpc::StatusCode::UNAUTHENTICATED);
      CHECK(outcome.message.find("nobody has this token") != std::string::npos);
      CHECK(outcome.responses.empty());
    }
  }
}

TEST_CASE("every RPC is refused to whom nobody knows before its request's body has come") {
  World world;
  for (const std::string& method : AllMethods()) {
    INFO(method);
    RawCall call(world.service.channel, "/espalier.v1." + method, "Bearer " + NewToken());
    REQUIRE(call.Finish().code == grpc::StatusCode::UNAUTHENTICATED);
  }
}

TEST_CASE("each role's token opens its own services alone") {
  const espalier::testing::Certificates certificates;
  World world(GENERATE(false, true) ? TlsDoor(certificates) : Door{});
  const std::string gpu = world.service.AddUser("gpu", "", v1::ROLE_NODE);
  const std::string host = world.service.AddUser("host", "", v1::ROLE_TUNER);
  for (const Case& each : CasesOf(v1::SCOPE_TEAM)) {
    INFO(each.method);
    const auto is_let_in = [&](const std::string& token) {
      return world.service.Call(token, each.method, *each.request).code != grpc::StatusCode::UNAUTHENTICATED;
    };
    CHECK(is_let_in(world.bob) == IsForMembers(each.method));
    CHECK(is_let_in(host) == each.method.starts_with("TunerService/"));
    const bool is_for_nodes = each.method.starts_with("NodeManagerService/");
    CHECK(is_let_in(world.service.root) == !is_for_nodes);
    if (!is_for_nodes) CHECK_FALSE(is_let_in(gpu));  // whose streams have no end
  }
}

TEST_CASE("for another team, a service with a team's study is as one without it") {
  for (const v1::Scope scope : {v1::SCOPE_NOBODY, v1::SCOPE_STUDY, v1::SCOPE_TEAM, v1::SCOPE_EVERYONE}) {
    INFO(v1::Scope_Name(scope));
    World with;
    World without;
    with.RunAnnsStudy(scope);
    const auto seen = Ask(with, with.bob, scope);
    const auto expected = Ask(without, without.bob, scope);
    REQUIRE(seen.size() == expected.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const auto& [method, outcome] = seen[i];
      INFO(method << ": " << outcome.message << " / " << expected[i].second.message);
      if (method == "InspectService/Forecast" && scope == v1::SCOPE_EVERYONE) {
        v1::ForecastResponse forecast;  // what everyone shares shows in the counts
        REQUIRE(forecast.ParseFromString(outcome.responses.at(0)));
        CHECK(forecast.trained_steps() == 7);
      } else {
        CHECK((outcome == expected[i].second));
      }
      const bool repeats_the_name = method == "InspectService/GetStudy" || method == "InspectService/ListTrials" ||
                                    method == "InspectService/Forecast";
      if (!repeats_the_name) CheckTellsNothing(method, outcome);
    }
  }
}

TEST_CASE("where everyone shares, a study of the same trials tells nothing of whose training it found") {
  World world;
  world.RunAnnsStudy(v1::SCOPE_EVERYONE);
  v1::CreateStudyRequest create;
  create.set_request_id("1");
  *create.mutable_study() = AnnsStudy(v1::SCOPE_EVERYONE);
  create.mutable_study()->set_name("bobstudy");
  const auto id = world.service.Get<v1::CreateStudyResponse>(world.bob, "StudyService/CreateStudy", create).study_id();
  v1::SubmitRequest submit = AnnsTrial(id);
  submit.mutable_new_trials(0)->set_steps(9);
  world.service.Get<v1::SubmitResponse>(world.bob, "StudyService/Submit", submit);
  v1::WatchRequest watch;
  watch.set_study_id(id);
  REQUIRE(world.service.Call(world.bob, "StudyService/Watch", watch).code == grpc::StatusCode::OK);

  v1::GetStudyRequest get;
  get.set_study_id(id);
  const auto study = world.service.Get<v1::GetStudyResponse>(world.bob, "InspectService/GetStudy", get).study();
  CHECK(study.user() == "bob");
  CHECK(study.steps().reused() == 7);
  CHECK(study.steps().trained() == 2);
  v1::ListTrialsRequest list;
  list.set_study_id(id);
  const auto trials = world.service.Get<v1::ListTrialsResponse>(world.bob, "InspectService/ListTrials", list);
  REQUIRE(trials.trials_size() == 1);
  CHECK(trials.trials(0).evaluations_size() == 1);  // at 9, not ann's at 7
  v1::GetPlanRequest plan;
  plan.set_study_id(id);
  const auto nodes = world.service.Get<v1::GetPlanResponse>(world.bob, "InspectService/GetPlan", plan);
  REQUIRE(nodes.nodes_size() == 1);
  CHECK(nodes.nodes(0).trial_count() == 1);
  CHECK(std::vector<std::int64_t>(nodes.nodes(0).checkpoint_steps().begin(), nodes.nodes(0).checkpoint_steps().end()) ==
        std::vector<std::int64_t>{9});
  const auto studies =
      world.service.Get<v1::ListStudiesResponse>(world.bob, "InspectService/ListStudies", v1::ListStudiesRequest());
  CHECK(studies.studies_size() == 1);
}

TEST_CASE("another team sees that a server is busy, and not with which runs") {
  World world;
  v1::CreateStudyRequest create;
  create.set_request_id("1");
  *create.mutable_study() = AnnsStudy(v1::SCOPE_EVERYONE);
  world.service.Get<v1::CreateStudyResponse>(world.ann, "StudyService/CreateStudy", create);
  v1::SubmitRequest submit = AnnsTrial(1);
  submit.mutable_new_trials(0)->set_steps(1000);
  world.service.Get<v1::SubmitResponse>(world.ann, "StudyService/Submit", submit);
  const auto server_for = [&](const std::string& token) {
    return world.service.Get<v1::ListServersResponse>(token, "InspectService/ListServers", v1::ListServersRequest())
        .servers(0);
  };
  CHECK(server_for(world.ann).busy_slot_count() == 1);
  CHECK(server_for(world.ann).running_run_ids_size() == 1);
  CHECK(server_for(world.bob).busy_slot_count() == 1);
  CHECK(server_for(world.bob).running_run_ids_size() == 0);
}

TEST_CASE("a team mate looks at a study and cannot change it") {
  World world;
  const std::string cat = world.service.AddUser("cat", "vision");
  world.RunAnnsStudy(v1::SCOPE_NOBODY);
  for (const Case& each : CasesOf(v1::SCOPE_NOBODY)) {
    INFO(each.method);
    const Outcome outcome = world.service.Call(cat, each.method, *each.request);
    if (each.method == "StudyService/Submit" || each.method == "StudyService/CancelStudy" ||
        each.method == "StudyService/PinStudy" || each.method == "StudyService/WeighStudy") {
      CHECK(outcome.code == grpc::StatusCode::FAILED_PRECONDITION);
      CHECK(outcome.message == "study 1 is ann.secret's, who alone may change it");
    } else if (each.method == "StudyService/RetryStage") {
      CHECK(outcome.message.starts_with("nothing failed at 1@7"));  // it is no study's alone
    } else if (each.method == "InspectService/GetTrainer") {
      CHECK(outcome.code == grpc::StatusCode::NOT_FOUND);  // nobody's trainer has that digest
    } else if (IsForMembers(each.method)) {
      CHECK(outcome.code == grpc::StatusCode::OK);
    }
  }
}

TEST_CASE("a trial of another team's study is not found from within one's own") {
  World world;
  world.RunAnnsStudy(v1::SCOPE_TEAM);
  v1::CreateStudyRequest create;
  create.set_request_id("1");
  *create.mutable_study() = AnnsStudy(v1::SCOPE_TEAM);
  const auto id = world.service.Get<v1::CreateStudyResponse>(world.bob, "StudyService/CreateStudy", create).study_id();
  const auto ask_for = [&](std::int64_t trial) {
    v1::SubmitRequest submit;
    submit.set_request_id("1");
    submit.set_study_id(id);
    submit.add_cancel_trial_ids(trial);
    return world.service.Call(world.bob, "StudyService/Submit", submit);
  };
  Outcome existing = ask_for(1);
  CHECK(existing.code == grpc::StatusCode::NOT_FOUND);
  CHECK(existing.message == "the study has no trial 1");
  Outcome absent = ask_for(5);
  CHECK(absent.message == "the study has no trial 5");
  absent.message = existing.message;
  CHECK((existing == absent));
}

TEST_CASE("a token that is revoked is worthless at once, also for a stream that is open") {
  World world;
  v1::CreateStudyRequest create;
  create.set_request_id("1");
  *create.mutable_study() = AnnsStudy(v1::SCOPE_TEAM);
  world.service.Get<v1::CreateStudyResponse>(world.bob, "StudyService/CreateStudy", create);
  v1::WatchRequest watch;
  watch.set_study_id(1);
  RawCall watching(world.service.channel, "/espalier.v1.StudyService/Watch", watch, "Bearer " + world.bob);
  watching.WritesDone();
  REQUIRE(watching.Read().has_value());
  const std::string gpu = world.service.AddUser("gpu", "", v1::ROLE_NODE, "other-server");
  v1::SynchronizeRequest first = ToyNode::FirstRequest();
  first.mutable_registration()->set_server("other-server");
  RawCall training(world.service.channel, "/espalier.v1.NodeManagerService/Synchronize", first, "Bearer " + gpu);
  REQUIRE(training.Read().has_value());

  world.service.RemoveUser("bob");
  world.service.RemoveUser("gpu");
  CHECK(world.service.Call(world.bob, "InspectService/ListStudies", v1::ListStudiesRequest()).code ==
        grpc::StatusCode::UNAUTHENTICATED);
  CHECK(watching.Finish().code == grpc::StatusCode::UNAUTHENTICATED);
  training.Write(v1::SynchronizeRequest());
  CHECK(training.Finish().code == grpc::StatusCode::UNAUTHENTICATED);
}

}  // namespace espalier::master::testing
