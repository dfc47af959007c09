// Users' own code on the wire: who may send it, and who gets it.
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/node_manager.pb.h"
#include "protocol/trainer_reference.h"
#include "tests/unit/rpc/service.h"

namespace espalier::master::testing {
namespace {

const std::string kCode("PK\x00\x01 code", 9);

struct Coder : Service {
  std::string ann = AddUser("ann", "vision");
  std::string bob = AddUser("bob", "speech");
  std::string node = AddUser("gpu1", "", v1::ROLE_NODE);

  void Put(const std::string& token) {
    v1::PutArchiveRequest request;
    request.set_request_id("put");
    request.set_archive(kCode);
    Get<v1::PutArchiveResponse>(token, "StudyService/PutArchive", request);
  }
  v1::DescribeTrainerRequest Wish() const {
    v1::DescribeTrainerRequest request;
    request.set_request_id("describe");
    request.mutable_reference()->set_entry("train.py:Digits");
    request.mutable_reference()->set_archive_sha256(Sha256Hex(kCode));
    request.mutable_reference()->set_folder("/home/ann");
    return request;
  }
  v1::GetReferenceRequest Asking(const std::string& digest) const {
    v1::GetReferenceRequest request;
    request.set_reference_digest(digest);
    return request;
  }
};

}  // namespace

TEST_CASE("a node manager gets a user's code as that user's, whoever the message says it is from") {
  Coder of;
  of.Put(of.ann);
  v1::DescribeTrainerRequest wish = of.Wish();
  wish.mutable_reference()->set_user("root");
  wish.mutable_reference()->set_team("root");
  const std::string digest =
      of.Get<v1::DescribeTrainerResponse>(of.ann, "StudyService/DescribeTrainer", wish).reference_digest();
  const auto got = of.Get<v1::GetReferenceResponse>(of.node, "NodeManagerService/GetReference", of.Asking(digest));
  CHECK(got.archive() == kCode);
  CHECK(got.reference().entry() == "train.py:Digits");
  CHECK(got.reference().user() == "ann");
  CHECK(got.reference().team() == "vision");
}

TEST_CASE("users get no code from the master, and another team does not hear of it") {
  Coder of;
  of.Put(of.ann);
  const std::string digest =
      of.Get<v1::DescribeTrainerResponse>(of.ann, "StudyService/DescribeTrainer", of.Wish()).reference_digest();
  for (const std::string& token : {of.ann, of.bob}) {
    CHECK(of.Call(token, "NodeManagerService/GetReference", of.Asking(digest)).code != grpc::StatusCode::OK);
  }
  v1::GetTrainerRequest look;
  look.set_reference_digest(digest);
  CHECK(of.Get<v1::GetTrainerResponse>(of.ann, "InspectService/GetTrainer", look).wanted());
  CHECK(of.Call(of.bob, "InspectService/GetTrainer", look).code == grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("what makes no sense is refused with the field") {
  Coder of;
  CHECK(of.Call(of.ann, "StudyService/DescribeTrainer", of.Wish()).code == grpc::StatusCode::NOT_FOUND);
  CHECK(of.Call(of.node, "NodeManagerService/GetReference", of.Asking("no digest")).code ==
        grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(of.Call(of.node, "NodeManagerService/GetReference", of.Asking(std::string(32, '0'))).code ==
        grpc::StatusCode::NOT_FOUND);
  v1::GetTrainerRequest look;
  look.set_reference_digest("no digest");
  CHECK(of.Call(of.ann, "InspectService/GetTrainer", look).code == grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace espalier::master::testing
