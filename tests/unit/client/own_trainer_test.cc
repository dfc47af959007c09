// Trainers of the user's own, and his data, from C++: what travels, what is waited for, and how the study names them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "base/run_to_end.h"
#include "base/scratch_folder.h"
#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

constexpr char kLibrary[] = "not really a library";

v1::TrainerDescription Offer(const std::string& name, const std::string& data = {}) {
  v1::TrainerDescription offer;
  offer.set_name(name);
  offer.set_data(data);
  return offer;
}

v1::GetTrainerResponse Looking(const std::string& server) {
  v1::GetTrainerResponse response;
  response.set_wanted(true);
  response.add_servers()->set_server(server);
  return response;
}

v1::GetTrainerResponse Offering(const std::vector<v1::TrainerDescription>& offers) {
  v1::GetTrainerResponse response = Looking("near");
  for (const v1::TrainerDescription& offer : offers) *response.mutable_servers(0)->add_offers() = offer;
  return response;
}

v1::GetTrainerResponse Refused(const std::string& why) {
  v1::GetTrainerResponse response = Looking("near");
  response.mutable_servers(0)->set_refused(why);
  return response;
}

// A master whose servers describe what they are asked for, one answer after the other, and a user's folder.
struct OwnTrainerWorld {
  explicit OwnTrainerWorld(std::vector<v1::GetTrainerResponse> answers, std::vector<v1::TrainerDescription> own = {})
      : master({.socket_path = SocketPath(),
                .train = Learn,
                .trainers = std::move(own),
                .described = std::move(answers)}) {
    std::ofstream(Path("libnet.so")) << kLibrary;
    std::ofstream(Path("net.pt")) << "a module";
    std::filesystem::create_directory(Path("points"));
    std::ofstream(Path("points/train.csv")) << "x,label\n";
  }

  std::string Path(const std::string& name) const { return (folder.path() / name).string(); }
  StudySpecification Naming(const std::string& trainer, const std::string& data = {}) const {
    return {.name = "own", .trainer = trainer, .data = data, .metric = "test_acc", .definition = "{}"};
  }
  Error MistakeOf(const StudySpecification& specification) {
    const Result<Study> study = client.CreateStudy(specification);
    REQUIRE_FALSE(study.has_value());
    CHECK(master.creations().empty());
    return study.error();
  }

  ScratchFolder folder = ScratchFolder::Create().value();
  FakeMaster master;
  Client client = Connect(master);
};

}  // namespace

TEST_CASE(
    "a study names its own trainer as a file does: the code is sent, described, and named by what servers found") {
  OwnTrainerWorld world({Looking("near"), Offering({Offer("lenet", "mnist")})});
  const Result<Study> study = world.client.CreateStudy(world.Naming("library:" + world.Path("libnet.so")));
  REQUIRE(study.has_value());
  CHECK(world.master.archives() == std::vector<std::string>{kLibrary});
  const v1::TrainerReference reference = world.master.references().back();
  CHECK(reference.entry() == "library:libnet.so");
  CHECK(reference.archive_sha256() == Sha256Hex(kLibrary));
  CHECK(reference.folder() == std::filesystem::current_path());
  const v1::StudySpecification created = world.master.creations().at(0).study();
  CHECK(created.trainer() == "lenet");
  CHECK(created.data() == "mnist");
  CHECK(created.reference_digest() == "digest of library:libnet.so");
}

TEST_CASE("code that the service has is not sent again, and what is described once is not described again") {
  OwnTrainerWorld world({Offering({Offer("net")})});
  const StudySpecification said = world.Naming("torchscript:" + world.Path("net.pt"));
  const StudySpecification described = world.client.DescribeTrainer(said).value();
  CHECK(world.master.archives().size() == 1);
  CHECK(world.client.DescribeTrainer(said).has_value());
  CHECK(world.master.archives().size() == 1);

  const std::size_t asked = world.master.references().size();
  CHECK(world.client.CreateStudy(described).has_value());
  CHECK(world.master.references().size() == asked);
  CHECK(world.master.creations().at(0).study().trainer() == "net");
}

TEST_CASE("who describes a trainer is told which servers look at it, once each") {
  OwnTrainerWorld world({v1::GetTrainerResponse{}, Looking("near"), Looking("near"), Offering({Offer("net")})});
  std::vector<std::string> said;
  CHECK(world.client
            .DescribeTrainer(world.Naming("command:./worker --fast"),
                             [&](const std::string& waiting) { said.push_back(waiting); })
            .has_value());
  CHECK(said == std::vector<std::string>{"waiting for a server to look at command:./worker --fast",
                                         "waiting for near to look at command:./worker --fast"});
  CHECK(world.master.archives().empty());
}

TEST_CASE("a trainer that nobody asks for any more is asked for again") {
  v1::GetTrainerResponse forgotten = Refused("long ago");
  forgotten.set_wanted(false);
  OwnTrainerWorld world({forgotten, Offering({Offer("net")})});
  CHECK(world.client.DescribeTrainer(world.Naming("command:./worker")).has_value());
  CHECK(world.master.references().size() == 2);
}

TEST_CASE("what every server refuses is no trainer, and each server's reason is said") {
  OwnTrainerWorld world({Refused("it has no network")});
  const Error error = world.MistakeOf(world.Naming("library:" + world.Path("libnet.so")));
  CHECK(error.code == ErrorCode::kFailedPrecondition);
  CHECK(error.field == "trainer");
  CHECK(error.message == "no server runs library:libnet.so:\n  near: it has no network");
}

TEST_CASE("of several trainers in a library one is named, and those that it has are said") {
  OwnTrainerWorld world({Offering({Offer("lenet"), Offer("alexnet"), Offer("lenet", "other")})});
  const std::string library = "library:" + world.Path("libnet.so");
  CHECK(world.MistakeOf(world.Naming(library)).message ==
        "library:libnet.so has several trainers; expected library:FILE.so:NAME with one of: alexnet, lenet");
  CHECK(world.MistakeOf(world.Naming(library + ":vgg")).message ==
        "library:libnet.so:vgg has no such trainer; expected library:FILE.so:NAME with one of: alexnet, lenet");
  CHECK(world.MistakeOf(world.Naming("command:./worker")).message ==
        "command:./worker has several trainers, of which one is expected: alexnet, lenet");
  CHECK(world.client.DescribeTrainer(world.Naming(library + ":alexnet")).value().trainer == "alexnet");
}

TEST_CASE("data of the user's own for a trainer that is built in travels as its folder, and nothing is checked") {
  OwnTrainerWorld world({Offering({Offer("mlp", "/elsewhere")})}, {Offer("mlp", "digits")});
  CHECK(world.client.CreateStudy(world.Naming("mlp", world.Path("points"))).has_value());
  const v1::TrainerReference reference = world.master.references().at(0);
  CHECK(reference.entry() == "built-in:mlp");
  CHECK(reference.folder() == world.folder.path());
  REQUIRE(reference.data_size() == 1);
  CHECK(reference.data(0) == "points");
  CHECK_FALSE(reference.data_seen().empty());
  const v1::StudySpecification created = world.master.creations().at(0).study();
  CHECK(created.data() == world.Path("points"));
  CHECK(created.check() == v1::CHECK_WHEN_OFF);
}

TEST_CASE("nobody is asked to describe what servers have of their own") {
  const ScratchFolder elsewhere = ScratchFolder::Create().value();
  const std::string registered = elsewhere.path().string();
  OwnTrainerWorld world({}, {Offer("mlp", registered)});
  CHECK(world.client.CreateStudy(world.Naming("mlp", registered)).has_value());
  CHECK(world.client.CreateStudy({.name = "built in", .trainer = "mlp", .data = "digits"}).has_value());
  CHECK(world.client.CreateStudy({.name = "unknown", .trainer = "net:work"}).has_value());  // the master says it
  CHECK(world.master.references().empty());
}

TEST_CASE("a forecast knows the trainer by what servers found, too") {
  OwnTrainerWorld world({Refused("it has no network")});
  const auto forecast = world.client.Forecast(world.Naming("library:" + world.Path("libnet.so")), {}, {});
  CHECK(forecast.error().message == "no server runs library:libnet.so:\n  near: it has no network");
}

TEST_CASE("a trainer that cannot travel is refused with its field, before anything is sent") {
  OwnTrainerWorld world({Offering({Offer("net")})});
  const Error missing = world.MistakeOf(world.Naming("library:" + world.Path("libother.so")));
  CHECK(missing.code == ErrorCode::kInvalidArgument);
  CHECK(missing.field == "trainer");
  CHECK(missing.message == "expected library:FILE.so or library:FILE.so:NAME, a library that is there; there is no " +
                               world.Path("libother.so"));
  std::filesystem::resize_file(world.Path("libnet.so"), (10 << 20) + 1);
  CHECK_THAT(world.MistakeOf(world.Naming("library:" + world.Path("libnet.so"))).message,
             Catch::Contains("has more than 10 MiB"));
  StudySpecification interpreted = world.Naming("mlp", "digits");
  interpreted.python = "/usr/bin/python3";
  CHECK(world.MistakeOf(interpreted).field == "python");
  interpreted.python.clear();
  interpreted.environment = {{"MODE", "1"}};
  CHECK(world.MistakeOf(interpreted).field == "environment");
  std::ofstream(world.Path("broken.py")) << "raise ValueError('no such luck')\n";
  StudySpecification broken = world.Naming(world.Path("broken.py") + ":Net");
  broken.python = "/bin/false";
  CHECK_THAT(world.MistakeOf(broken).message, Catch::Contains("cannot be packed by /bin/false"));
  CHECK(world.master.references().empty());
}

TEST_CASE("a program that is not there is told from one that fails") {
  CHECK(IsNotFound(RunToEnd({"espalier-nowhere"})));
  CHECK_FALSE(IsNotFound(RunToEnd({"false"})));
  CHECK_FALSE(IsNotFound(RunToEnd({"true"})));
}

}  // namespace espalier
