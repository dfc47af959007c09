// A node manager's token is bound to the servers that it may be.
#include "espalier/v1/study.pb.h"
#include "tests/support/toy_node.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

// Trained to its end: run 1 is the toy node's.
void RunOneTrial(Service& service) {
  const std::string ann = service.AddUser("ann", "vision");
  v1::CreateStudyRequest create;
  create.set_request_id("create");
  create.mutable_study()->set_name("short");
  create.mutable_study()->set_trainer("toy");
  create.mutable_study()->set_metric("score");
  v1::SubmitRequest submit;
  submit.set_request_id("submit");
  submit.set_study_id(service.Get<v1::CreateStudyResponse>(ann, "StudyService/CreateStudy", create).study_id());
  submit.add_new_trials()->set_steps(7);
  submit.set_finish(true);
  service.Get<v1::SubmitResponse>(ann, "StudyService/Submit", submit);
  v1::WatchRequest watch;
  watch.set_study_id(submit.study_id());
  REQUIRE(service.Call(ann, "StudyService/Watch", watch).code == grpc::StatusCode::OK);  // to the last event
}

void CheckIsRefused(const Outcome& outcome) {
  CHECK(outcome.code == grpc::StatusCode::PERMISSION_DENIED);
  CHECK(
      outcome.message ==
      "the token of gpus is for gpu-*, and not for the server 'toy-server'; an administrator makes one: espalier user "
      "add NAME --role node --servers toy-server");
  CHECK(outcome.responses.empty());
}

}  // namespace

TEST_CASE("a node manager's token is good for the servers that it names, and for no other") {
  Service service;
  const ToyNode node(service.channel, service.AddUser("node", "", v1::ROLE_NODE), 0.5);
  RunOneTrial(service);
  const std::string gpus = service.AddUser("gpus", "", v1::ROLE_NODE, "gpu-*");
  const v1::SynchronizeRequest first = ToyNode::FirstRequest();
  CheckIsRefused(service.Call(gpus, "NodeManagerService/Synchronize", first));
  v1::PutServerLogRequest log;
  log.set_server(first.registration().server());
  log.set_incarnation(first.registration().incarnation());
  log.set_text("forged");
  CheckIsRefused(service.Call(gpus, "NodeManagerService/PutServerLog", log));
  v1::PutOutputRequest output;
  output.mutable_run()->set_leadership_id(1);
  output.mutable_run()->set_run_id(1);
  output.set_incarnation(first.registration().incarnation());
  output.add_pieces()->set_text("forged");
  CheckIsRefused(service.Call(gpus, "NodeManagerService/PutOutput", output));
}

TEST_CASE("a node manager that has begun as its own server cannot go on as another") {
  Service service;
  const std::string gpus = service.AddUser("gpus", "", v1::ROLE_NODE, "gpu-*");
  v1::SynchronizeRequest own = ToyNode::FirstRequest();
  own.mutable_registration()->set_server("gpu-7");
  RawCall training(service.channel, "/espalier.v1.NodeManagerService/Synchronize", own, "Bearer " + gpus);
  CHECK(training.Read().has_value());
  training.Write(ToyNode::FirstRequest());
  CHECK(training.Finish().code == grpc::StatusCode::PERMISSION_DENIED);
}

}  // namespace espalier::master::testing
