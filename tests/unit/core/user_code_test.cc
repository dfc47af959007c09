// Trainers in users' own code: what is stored of them, which servers are told of them, and who gets them.
#include <catch2/catch.hpp>

#include "master/core/views/explain_stage.h"
#include "master/core/views/trainer_standing.h"
#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

const std::string kCode = "code of ann's";
const Caller kBob{.user = "bob", .team = "other team"};

Offer OfferOfCode(const std::string& code_digest = "as ann wrote it") {
  Offer offer = kSimulated;
  offer.trainer = "Digits";
  offer.code_digest = code_digest;
  return offer;
}

struct Code : MasterByHand {
  Code() : MasterByHand(2, 1) {}

  TrainerReference Reference(const std::string& code = kCode) const {
    return {.entry = "train.py:Digits",
            .archive = Sha256Hex(code),
            .python = {},
            .client = {},
            .folder = "/home/ann",
            .data = {},
            .data_seen = {},
            .environment = {},
            .user = kAnn.user,
            .team = kAnn.team};
  }
  std::optional<Error> Refusal() const {
    const auto* error = std::get_if<Error>(&last_reply.answer);
    return error == nullptr ? std::nullopt : std::optional(*error);
  }
  // Ann's code, which every server is told of.
  Digest128 AskFor(const std::string& code = kCode) {
    Call(PutArchive{code});
    Call(DescribeTrainer{Reference(code)});
    REQUIRE_FALSE(Refusal());
    return std::get<TrainerAsked>(last_reply.answer).reference;
  }
  std::vector<WantedReference> Wanted(std::size_t server) const { return servers[server].orders->references; }
  // The server says what it has made of the references.
  void Say(std::size_t server, std::vector<DescribedReference> described) {
    Handle(NodeMessage{.session = servers[server].session,
                       .registration = Registration{.server = servers[server].name,
                                                    .incarnation = "1",
                                                    .devices = {{.name = "cores-0", .slots = 1}},
                                                    .offers = {{kSimulated, "simulated"}},
                                                    .references = std::move(described)}});
  }
  void Offers(std::size_t server, Digest128 reference, const Offer& offer = OfferOfCode()) {
    Say(server, {{reference, Wanted(server).at(0).asked, {{offer, "simulated"}}, {}}});
  }
  void Refuses(std::size_t server, Digest128 reference, const std::string& why) {
    Say(server, {{reference, Wanted(server).at(0).asked, {}, why}});
  }
  StudySpecification Specification(const std::string& name, std::optional<Digest128> reference) const {
    return {.name = name, .trainer = "Digits", .metric = kSimulated.metrics.front(), .reference = reference};
  }
  StudyId Make(const StudySpecification& specification) {
    Call(master::CreateStudy{specification});
    REQUIRE_FALSE(Refusal());
    return std::get<StudyCreated>(last_reply.answer).study;
  }
};

}  // namespace

TEST_CASE("a reference is told to every server, and told of again only when somebody asks anew") {
  Code of;
  CHECK(of.Wanted(0).empty());
  const Digest128 reference = of.AskFor();
  REQUIRE(of.Wanted(0).size() == 1);
  CHECK(of.Wanted(0)[0].reference == reference);
  CHECK(of.Wanted(1) == of.Wanted(0));
  const std::int64_t asked = of.Wanted(0)[0].asked;
  of.Offers(0, reference);
  CHECK(of.Wanted(0)[0].asked == asked);
  of.Call(DescribeTrainer{of.Reference()});
  CHECK(of.Wanted(0)[0].asked != asked);
}

TEST_CASE("code that is not there, or too large, is refused with the field, and nothing is stored") {
  Code of;
  of.Call(DescribeTrainer{of.Reference()});
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->code == ErrorCode::kNotFound);
  CHECK(of.Refusal()->field == "archive");
  for (const std::string& code : {std::string(), std::string(kArchiveBytesMax + 1, 'x')}) {
    of.Call(PutArchive{code});
    REQUIRE(of.Refusal());
    CHECK(of.Refusal()->code == ErrorCode::kInvalidArgument);
    CHECK(of.Refusal()->field == "archive");
  }
  TrainerReference wrong = of.Reference();
  wrong.entry = "../train.py:Digits";
  of.Call(DescribeTrainer{wrong});
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->field == "trainer");
  CHECK(of.state().archives.empty());
  CHECK(of.state().references.empty());
}

TEST_CASE("a user's archives have a bound: beyond it the oldest go that nobody needs") {
  Code of;
  const auto put = [&](char content) {
    of.Call(PutArchive{std::string(kArchiveBytesMax, content)});
    return Sha256Hex(std::string(kArchiveBytesMax, content));
  };
  const auto ask = [&](const std::string& archive) {
    TrainerReference reference = of.Reference();
    reference.archive = archive;
    of.Call(DescribeTrainer{reference});
    REQUIRE_FALSE(of.Refusal());
  };
  const int count = static_cast<int>(kArchivesOfUserBytesMax / kArchiveBytesMax);
  std::vector<std::string> archives;
  for (int i = 0; i < count; ++i) archives.push_back(put(static_cast<char>('a' + i)));
  REQUIRE_FALSE(of.Refusal());
  put('a');  // stored already: it costs nothing
  CHECK(of.state().archives.size() == static_cast<std::size_t>(count));
  ask(archives[0]);
  const std::string more = put('Z');
  REQUIRE_FALSE(of.Refusal());
  CHECK(of.state().archives.contains(more));
  CHECK(of.state().archives.contains(archives[0]));
  CHECK_FALSE(of.state().archives.contains(archives[1]));
  for (const auto& [sha256, archive] : std::map(of.state().archives)) ask(sha256);
  of.Call(PutArchive{"small, and asked for by nobody"});
  put('Y');
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->code == ErrorCode::kResourceExhausted);
  CHECK(of.state().archives.size() == static_cast<std::size_t>(count) + 1);
}

TEST_CASE("a trial whose code is kept no more is continued once somebody has brought it again") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Offers(1, reference);
  const StudyId study = of.Make(of.Specification("digits", reference));
  of.Submit(study, {{"lr", "0.1"}}, 20);
  const TrialId trial = of.state().trials.begin()->first;
  of.Call(CancelStudy{study});
  const ContinueTrial further{
      .trial = trial, .name = "further", .definition = "{}", .continuations = {{.steps = Step{30}}}};
  Apply(of.state(), DropArchive{Sha256Hex(kCode)});
  of.Call(further);
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->code == ErrorCode::kFailedPrecondition);
  CHECK(of.Refusal()->message.find("keeps the code of trainer Digits no more") != std::string::npos);
  of.AskFor();
  of.Call(further);
  CHECK_FALSE(of.Refusal());
}

TEST_CASE("a study by a reference is trained where it is offered, and the reference is wanted until it is finished") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Offers(1, reference);
  const StudyId study = of.Make(of.Specification("digits", reference));
  of.Submit(study, {{"lr", "0.1"}}, 20);
  CHECK(of.servers[0].orders->orders.empty());
  REQUIRE(of.servers[1].orders->orders.size() == 1);
  CHECK(of.servers[1].orders->orders[0].offer == OfferOfCode());
  of.Restart();
  REQUIRE(of.Wanted(0).size() == 1);
  CHECK(of.Wanted(0)[0] == WantedReference{reference, 0});
  of.Call(CancelStudy{study});
  CHECK(of.Wanted(0).empty());
}

TEST_CASE("who names a trainer does not get one that came of somebody's code, unless a server has it of its own") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Offers(0, reference);
  of.Call(CreateStudy{of.Specification("digits", std::nullopt)});
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->field == "trainer");
  of.Handle(NodeMessage{.session = of.servers[1].session,
                        .registration = Registration{.server = of.servers[1].name,
                                                     .incarnation = "1",
                                                     .devices = {{.name = "cores-0", .slots = 1}},
                                                     .offers = {{OfferOfCode(), "simulated"}}}});
  of.Call(CreateStudy{of.Specification("digits", std::nullopt)});
  CHECK_FALSE(of.Refusal());
}

TEST_CASE("another team has no part in a reference: it cannot look at it, nor make a study of it") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Offers(0, reference);
  CHECK(StandingOf(of.state(), reference, kAnn).has_value());
  const auto standing = StandingOf(of.state(), reference, kBob);
  REQUIRE_FALSE(standing.has_value());
  CHECK(standing.error().code == ErrorCode::kNotFound);
  of.Handle(ClientCall{CallId{99}, kBob, "bob's", CreateStudy{of.Specification("digits", reference)}});
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->code == ErrorCode::kNotFound);
}

TEST_CASE("what servers say of a reference is shown: one looks at it, one refuses it, and asked anew, it looks again") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Refuses(1, reference, "it runs nobody's own code");
  const auto shown = [&] { return StandingOf(of.state(), reference, kAnn).value(); };
  REQUIRE(shown().servers.size() == 2);
  CHECK(shown().wanted);
  CHECK(shown().servers[0].offers.empty());
  CHECK(shown().servers[0].refused.empty());
  CHECK(shown().servers[1].refused == "it runs nobody's own code");
  of.Call(DescribeTrainer{of.Reference()});
  CHECK(shown().servers[1].refused.empty());
  of.Offers(0, reference);
  REQUIRE(shown().servers[0].offers.size() == 1);
  CHECK(*shown().servers[0].offers[0] == OfferOfCode());
}

TEST_CASE("no server offers it: the study is refused, not left waiting for ever") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Call(CreateStudy{of.Specification("digits", reference)});
  REQUIRE(of.Refusal());
  CHECK(of.Refusal()->code == ErrorCode::kFailedPrecondition);
  CHECK(of.Refusal()->field == "reference_digest");
}

TEST_CASE("a stage whose code no server offers any more says why each refuses it") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Offers(0, reference);
  const StudyId study = of.Make(of.Specification("digits", reference));
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 20);
  of.Refuses(0, reference, "no such interpreter");
  of.LoseServers();
  of.Connect("server-2", 1);
  of.Say(0, {{reference, 0, {}, "no such interpreter"}});
  const Point point{of.state().trials.at(trial).leaf, Step{20}};
  const ExplainedStage explained = ExplainStage(of.state(), point, kAnn, Time{std::chrono::hours(1)}).value();
  CHECK(explained.waits_for == WaitsFor::kOffer);
  CHECK(explained.why.find("server-2 does not run train.py:Digits: no such interpreter") != std::string::npos);
}

TEST_CASE("a trial is gone on from by the code that it was trained by, which is kept and told to servers again") {
  Code of;
  const Digest128 reference = of.AskFor();
  of.Offers(0, reference);
  const StudyId study = of.Make(of.Specification("digits", reference));
  const TrialId trial = of.Submit(study, {{"lr", "0.1"}}, 20);
  of.Call(CancelStudy{study});
  of.Restart();
  CHECK(of.Wanted(0).empty());
  of.Call(ContinueTrial{.trial = trial, .name = "further", .definition = {}, .continuations = {{.steps = Step{40}}}});
  REQUIRE_FALSE(of.Refusal());
  REQUIRE(of.Wanted(0).size() == 1);
  CHECK(of.Wanted(0)[0].reference == reference);
}

}  // namespace espalier::master
