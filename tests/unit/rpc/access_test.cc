// Who may call what, and what another team's caller learns: of every RPC there is. A new RPC without a case here fails.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "tests/unit/rpc/access_cases.h"
#include "tests/unit/rpc/all_methods.h"

namespace espalier::master::testing {
namespace {

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
    if (each.method == "InspectService/GetMaster") {  // the time passes
      REQUIRE(outcome.responses.size() == 1);
      v1::GetMasterResponse response;
      REQUIRE(response.ParseFromString(outcome.responses[0]));
      response.clear_now();
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
         method == "CheckpointService/ListCheckpoints" || method == "UserService/ListQuotas";
}

void CheckAllAreRefusedWithoutToken(World& world) {
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

void CheckRolesOpenTheirOwnAlone(World& world) {
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

}  // namespace

TEST_CASE("there is a case for every RPC") {
  std::set<std::string> covered;
  for (const Case& each : CasesOf(v1::SCOPE_TEAM)) covered.insert(each.method);
  CHECK(covered == AllMethods());
}

TEST_CASE("every RPC is refused without a token, and with one that nobody has, saying what to do") {
  World world;
  CheckAllAreRefusedWithoutToken(world);
}

TEST_CASE("every RPC is refused without a token, and with one that nobody has, over TLS, too", "[large]") {
  const espalier::testing::Certificates certificates;
  World world(TlsDoor(certificates));
  CheckAllAreRefusedWithoutToken(world);
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
  World world;
  CheckRolesOpenTheirOwnAlone(world);
}

TEST_CASE("each role's token opens its own services alone over TLS, too", "[large]") {
  const espalier::testing::Certificates certificates;
  World world(TlsDoor(certificates));
  CheckRolesOpenTheirOwnAlone(world);
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
