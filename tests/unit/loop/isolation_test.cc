// Whom a refused commit is blamed on, and what becomes of it.
#include "master/loop/isolation.h"

#include <catch2/catch.hpp>

#include "tests/unit/loop/toy_master.h"

namespace espalier::master {
namespace {

Moment MomentAt(double seconds) { return Moment(Seconds(seconds)); }

const Error kRefused{ErrorCode::kInvalidArgument, "a value", {}};
const Error kOtherwise{ErrorCode::kAborted, "a row is there", {}};
const Error kAway{ErrorCode::kUnavailable, "away", {}};
const Origin kCall = CallId{1};

MasterState WithServer(const std::string& name, SessionId session) {
  MasterState state;
  Apply(state, SetServer{{.name = name, .incarnation = "1", .session = session}});
  return state;
}

NodeMessage MessageOf(const Event& event) { return std::get<NodeMessage>(event); }

}  // namespace

TEST_CASE("what is refused twice for the same kind of reason, the second time alone, is isolated") {
  Isolation isolation(Seconds{30});
  CHECK_FALSE(isolation.IsAlone(MomentAt(100)));
  CHECK(isolation.Failed(kRefused, kCall, MomentAt(100)) == std::nullopt);
  CHECK(isolation.IsAlone(MomentAt(129)));
  SECTION("alone") { CHECK(isolation.Failed(kRefused, kCall, MomentAt(129)) == kCall); }
  SECTION("with others") { CHECK(isolation.Failed(kRefused, std::nullopt, MomentAt(129)) == std::nullopt); }
  SECTION("for another reason") {
    CHECK(isolation.Failed(kOtherwise, kCall, MomentAt(129)) == std::nullopt);
    CHECK(isolation.Failed(kOtherwise, kCall, MomentAt(130)) == kCall);
  }
  SECTION("long after") {
    CHECK_FALSE(isolation.IsAlone(MomentAt(130)));
    CHECK(isolation.Failed(kRefused, kCall, MomentAt(130)) == std::nullopt);
  }
}

TEST_CASE("a commit of unknown outcome blames nobody") {
  Isolation isolation(Seconds{30});
  for (int i = 0; i < 3; ++i) CHECK(isolation.Failed(kAway, kCall, MomentAt(100)) == std::nullopt);
  CHECK_FALSE(isolation.IsAlone(MomentAt(100)));
}

TEST_CASE("while events are committed alone a node manager's message comes report by report") {
  Isolation isolation(Seconds{30});
  const Event message = Registering("gpu-1", 1, {6, 7});
  CHECK(isolation.Parts(message, {}, MomentAt(100)).size() == 1);
  isolation.Failed(kRefused, std::nullopt, MomentAt(100));
  const std::vector<Event> parts = isolation.Parts(message, {}, MomentAt(101));
  REQUIRE(parts.size() == 3);
  CHECK(MessageOf(parts[0]).registration.has_value());
  CHECK(MessageOf(parts[0]).reports.empty());
  for (const std::size_t i : {1, 2}) {
    CHECK(MessageOf(parts[i]).session == SessionId{1});
    REQUIRE(MessageOf(parts[i]).reports.size() == 1);
    CHECK(MessageOf(parts[i]).reports[0].number == static_cast<std::int64_t>(i) + 5);
    CHECK(isolation.Parts(parts[i], WithServer("gpu-1", SessionId{1}), MomentAt(101)).size() == 1);
  }
}

TEST_CASE("an isolated report is marked when it comes again, of that node manager and incarnation alone") {
  Isolation isolation(Seconds{30});
  const Origin report = OriginOf(Reporting(7), WithServer("gpu-1", SessionId{7}));
  isolation.Failed(kRefused, report, MomentAt(100));
  REQUIRE(isolation.Failed(kRefused, report, MomentAt(100)) == report);
  const double when = GENERATE(101, 1000);
  const std::vector<Event> parts = isolation.Parts(Registering("gpu-1", 8, {7}), {}, MomentAt(when));
  CHECK(MessageOf(parts.front()).registration.has_value());
  CHECK(MessageOf(parts.back()).refused_reports == std::set<std::int64_t>{7});
  NodeMessage other = Registering("gpu-2", 9, {7});
  CHECK(MessageOf(isolation.Parts(other, {}, MomentAt(when)).back()).refused_reports.empty());
  other = Registering("gpu-1", 9, {7});
  other.registration->incarnation = "2";
  CHECK(MessageOf(isolation.Parts(other, {}, MomentAt(when)).back()).refused_reports.empty());
}

TEST_CASE("isolated ticks pause for a while") {
  Isolation isolation(Seconds{30});
  const Origin tick = OwnEvent::kTick;
  isolation.Failed(kRefused, tick, MomentAt(100));
  CHECK(isolation.Parts(Tick{}, {}, MomentAt(101)).size() == 1);
  REQUIRE(isolation.Failed(kRefused, tick, MomentAt(101)) == tick);
  CHECK(isolation.Parts(Tick{}, {}, MomentAt(130)).empty());
  CHECK(isolation.Parts(MakeCall(1), {}, MomentAt(130)).size() == 1);
  CHECK(isolation.Parts(Tick{}, {}, MomentAt(131)).size() == 1);
}

}  // namespace espalier::master
