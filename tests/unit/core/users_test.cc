// Who may call, and what becomes of users: added, removed, added again, found again by a master that recovers.
#include <catch2/catch.hpp>

#include "base/digest.h"
#include "master/core/reactor.h"
#include "master/core/state/visibility.h"
#include "tests/support/master_by_hand.h"

namespace espalier::master {
namespace {

struct Office {
  MasterState state;
  ReactorSettings settings;
  std::map<std::string, User> admitted;  // by the last effect
  Reply reply;

  void Handle(const Event& event) {
    const Transition transition = React(state, event, *policy, settings, Time{});
    for (const Effect& effect : transition.effects) {
      if (const auto* admit = std::get_if<AdmitUsers>(&effect)) admitted = admit->users;
      if (const auto* answer = std::get_if<Reply>(&effect)) reply = *answer;
    }
  }
  void Call(const std::string& request, decltype(ClientCall::what) what) {
    Handle(ClientCall{CallId{1}, {.user = "root", .team = "local"}, request, std::move(what)});
  }
  // Nothing: done.
  std::optional<ErrorCode> Add(const User& user, const std::string& request = "") {
    Call(request.empty() ? "add " + std::to_string(++requests) : request, AddUser{user});
    return Outcome();
  }
  std::optional<ErrorCode> Remove(const std::string& name, const std::string& request = "") {
    Call(request.empty() ? "remove " + std::to_string(++requests) : request, RemoveUser{name});
    return Outcome();
  }
  std::optional<ErrorCode> Outcome() const {
    const auto* error = std::get_if<Error>(&reply.answer);
    return error == nullptr ? std::nullopt : std::optional(error->code);
  }
  std::string FieldOfError() const { return std::get<Error>(reply.answer).field; }
  // Of those who may call.
  std::optional<User> Holder(const std::string& token) const {
    for (const auto& [name, user] : admitted) {
      if (user.token_sha256 == Sha256Hex(token)) return user;
    }
    return std::nullopt;
  }

  int requests = 0;
  std::unique_ptr<Policy> policy = MakePolicy("critical_path").value();
};

User Member(const std::string& name, const std::string& team, const std::string& token) {
  return {.name = name, .team = team, .role = Role::kMember, .token_sha256 = Sha256Hex(token)};
}

User Administrator(const std::string& name, const std::string& token) {
  return {.name = name, .team = "local", .role = Role::kAdministrator, .token_sha256 = Sha256Hex(token)};
}

User Node(const std::string& name, std::vector<std::string> servers, const std::string& token) {
  return {.name = name, .role = Role::kNode, .token_sha256 = Sha256Hex(token), .servers = std::move(servers)};
}

constexpr auto kDone = std::nullopt;

}  // namespace

TEST_CASE("who is added may call with the token, until it is removed") {
  Office office;
  CHECK(office.Add(Member("ann", "vision", "a")) == kDone);
  CHECK(office.Add(Member("bob", "speech", "b")) == kDone);
  REQUIRE(office.Holder("a").has_value());
  CHECK(*office.Holder("a") == Member("ann", "vision", "a"));
  CHECK(office.Remove("ann") == kDone);
  CHECK_FALSE(office.Holder("a").has_value());
  CHECK(office.Holder("b").has_value());
  CHECK(office.Remove("ann") == kDone);  // again
  CHECK(office.Remove("zoe") == ErrorCode::kNotFound);
}

TEST_CASE("a user comes back to the same team alone, with a new token") {
  Office office;
  CHECK(office.Add(Member("ann", "vision", "a")) == kDone);
  CHECK(office.Add(Member("ann", "vision", "b")) == ErrorCode::kAlreadyExists);
  CHECK(office.Remove("ann") == kDone);
  CHECK(office.Add(Member("ann", "speech", "b")) == ErrorCode::kAlreadyExists);
  CHECK(office.Add(Node("ann", {"gpu-1"}, "b")) == ErrorCode::kAlreadyExists);
  CHECK_FALSE(office.Holder("b").has_value());
  CHECK(office.Add(Member("ann", "vision", "b")) == kDone);
  CHECK_FALSE(office.Holder("a").has_value());
  CHECK(office.Holder("b")->name == "ann");
}

TEST_CASE("a node manager may be the servers that its token names, and those that begin as it says") {
  Office office;
  CHECK(office.Add(Node("gpus", {"gpu-1", "rack-*"}, "a")) == kDone);
  const std::vector<std::string> servers = office.Holder("a")->servers;
  for (const char* name : {"gpu-1", "rack-", "rack-1"}) CHECK(MayBe(servers, name));
  for (const char* name : {"", "gpu-", "gpu-11", "gpu-2", "rack", "my-rack-1"}) CHECK_FALSE(MayBe(servers, name));
  CHECK(MayBe({"*"}, "any"));
  CHECK_FALSE(MayBe({}, "any"));
}

TEST_CASE("a token that somebody has is given to nobody else") {
  Office office;
  CHECK(office.Add(Member("ann", "vision", "a")) == kDone);
  CHECK(office.Add(Member("bob", "vision", "a")) == ErrorCode::kAlreadyExists);
  CHECK(office.FieldOfError() == "token_sha256");
  CHECK(office.Holder("a")->name == "ann");
}

TEST_CASE("a user request that comes again, however late, is answered the same and changes nothing") {
  Office office;
  CHECK(office.Add(Member("ann", "vision", "a"), "first") == kDone);
  CHECK(office.Remove("ann", "second") == kDone);
  CHECK(office.Add(Member("ann", "vision", "b"), "third") == kDone);
  const MasterState before = office.state;
  CHECK(office.Add(Member("ann", "vision", "a"), "first") == kDone);
  CHECK(office.Remove("ann", "second") == kDone);
  CHECK(office.state == before);
  CHECK(office.Add(Member("ann", "vision", "c"), "first") == ErrorCode::kAlreadyExists);
  CHECK(office.Remove("bob", "third") == ErrorCode::kAlreadyExists);
  CHECK(office.state == before);
}

TEST_CASE("what cannot be a user is refused with the field") {
  Office office;
  const auto refused_field = [&](const User& user) {
    const MasterState before = office.state;
    CHECK(office.Add(user) == ErrorCode::kInvalidArgument);
    CHECK(office.state == before);
    return office.FieldOfError();
  };
  for (const std::string& bad : {std::string(), std::string("a b"), std::string("a/b"), std::string("a\0b", 3),
                                 std::string("a\xff"), std::string(101, 'a')}) {
    CHECK(refused_field(Member(bad, "vision", "t")) == "name");
    CHECK(refused_field(Member("ann", bad, "t")) == "team");
  }
  User of_a_team = Node("gpu", {"gpu-1"}, "t");
  of_a_team.team = "vision";
  CHECK(refused_field(of_a_team) == "team");
  User served = Member("ann", "vision", "t");
  served.servers = {"gpu-1"};
  CHECK(refused_field(served) == "servers");
  for (const std::vector<std::string>& bad : {std::vector<std::string>{},
                                              {""},
                                              {"gpu-1", std::string("a\0b", 3)},
                                              {std::string(201, 'a')},
                                              {"gpu-*-1"},
                                              {"**"},
                                              std::vector<std::string>(101, "gpu-1")}) {
    CHECK(refused_field(Node("gpu", bad, "t")) == "servers");
  }
  User user = Member("ann", "vision", "t");
  for (const std::string& bad : {std::string(), std::string(63, 'a'), std::string(64, 'g'), std::string(65, 'a')}) {
    user.token_sha256 = bad;
    CHECK(refused_field(user) == "token_sha256");
  }
  CHECK(office.Add(Member("Ann.o-b_1@example.org", "vision", "t")) == kDone);
}

TEST_CASE("the last administrator cannot be removed") {
  Office office;
  CHECK(office.Add(Administrator("root", "r")) == kDone);
  CHECK(office.Add(Member("ann", "vision", "a")) == kDone);
  CHECK(office.Remove("root") == ErrorCode::kFailedPrecondition);
  CHECK(office.Holder("r").has_value());
  CHECK(office.Add(Administrator("deputy", "d")) == kDone);
  CHECK(office.Remove("root") == kDone);
  CHECK(office.Remove("deputy") == ErrorCode::kFailedPrecondition);
}

TEST_CASE("a master that has loaded its state makes the first administrator, and says who may call") {
  Office office;
  office.settings.first_users = {Administrator("local", "x")};
  office.Handle(Recovered{});
  CHECK(office.Holder("x")->role == Role::kAdministrator);
  CHECK(office.state.users.size() == 1);
  CHECK(office.Add(Member("ann", "vision", "a")) == kDone);

  const MasterState before = office.state;  // the next master finds all as it was
  office.admitted.clear();
  office.Handle(Recovered{});
  CHECK(office.state == before);
  CHECK(office.Holder("x").has_value());
  CHECK(office.Holder("a").has_value());

  office.settings.first_users = {Administrator("local", "y")};  // the file was lost
  office.Handle(Recovered{});
  CHECK(office.Holder("y")->name == "local");
  CHECK_FALSE(office.Holder("x").has_value());
}

TEST_CASE("the first administrator takes neither another's token nor another team's name") {
  Office office;
  CHECK(office.Add(Member("ann", "vision", "a")) == kDone);
  CHECK(office.Add(Member("local", "vision", "l")) == kDone);
  const MasterState before = office.state;
  for (const char* token : {"a", "x"}) {
    office.settings.first_users = {Administrator("local", token)};
    office.admitted.clear();
    office.Handle(Recovered{});
    CHECK(office.state == before);
    CHECK(office.Holder("a")->role == Role::kMember);
    CHECK(office.Holder("l")->role == Role::kMember);
  }
}

TEST_CASE("a study is seen by its team, changed by its user, and unknown to everybody else") {
  MasterByHand master;
  for (const Scope scope : {Scope::kNobody, Scope::kStudy, Scope::kTeam, Scope::kEveryone}) {
    const StudyId study = master.CreateStudy("s" + std::string(Name(scope)), scope);  // ann's, of "team"
    const std::string name = "s" + std::string(Name(scope));
    CHECK(FindStudy(master.state(), study, {"ann", "team"}).has_value());
    CHECK(FindStudy(master.state(), study, {"bob", "team"}).has_value());
    CHECK(FindStudyNamed(master.state(), name, {"bob", "team"}).has_value());
    CHECK(FindOwnStudy(master.state(), study, {"ann", "team"}).has_value());
    CHECK(FindOwnStudy(master.state(), study, {"bob", "team"}).error().code == ErrorCode::kFailedPrecondition);
    CHECK(FindStudy(master.state(), study, {"eve", "others"}).error().code == ErrorCode::kNotFound);
    CHECK(FindStudyNamed(master.state(), name, {"eve", "others"}).error().code == ErrorCode::kNotFound);
    CHECK(FindOwnStudy(master.state(), study, {"eve", "others"}).error().code == ErrorCode::kNotFound);
  }
}

TEST_CASE("of studies of one name, one's own comes before a team mate's newer one") {
  MasterByHand master;
  const auto create = [&](const std::string& user, const std::string& request) {
    const StudySpecification specification{.name = "s", .trainer = "simulated", .metric = "score"};
    master.Handle(ClientCall{CallId{1}, {user, "team"}, request, CreateStudy{specification}});
    return std::get<StudyCreated>(master.last_reply.answer).study;
  };
  const StudyId anns = create("ann", "1");
  const StudyId bobs = create("bob", "1");
  CHECK(anns != bobs);
  CHECK((*FindStudyNamed(master.state(), "s", {"ann", "team"}))->id == anns);
  CHECK((*FindStudyNamed(master.state(), "s", {"bob", "team"}))->id == bobs);
  CHECK((*FindStudyNamed(master.state(), "s", {"cat", "team"}))->id == bobs);
}

TEST_CASE("what a call for another team's study is answered does not tell that the study exists") {
  MasterByHand master;
  const StudyId study = master.CreateStudy("secret");
  const auto answers_to = [&](StudyId id) {
    std::vector<Error> errors;
    const Caller eve{"eve", "others"};
    master.Handle(ClientCall{CallId{1}, eve, "1", SubmitBatch{.study = id}});
    errors.push_back(std::get<Error>(master.last_reply.answer));
    master.Handle(ClientCall{CallId{1}, eve, "1", CancelStudy{id}});
    errors.push_back(std::get<Error>(master.last_reply.answer));
    return errors;
  };
  const std::vector<Error> existing = answers_to(study);
  std::vector<Error> absent = answers_to(StudyId{77});
  for (Error& error : absent) error.message.replace(error.message.find("77"), 2, std::to_string(study.value));
  CHECK(existing == absent);
}

}  // namespace espalier::master
