#include "proto/convert_node_protocol.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace espalier {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The fields of a message, and of all within it, that are not set: what a conversion has forgotten. Of a oneof, one has
// to be set.
std::vector<std::string> NotSet(const Message& message) {
  const auto& descriptor = *message.GetDescriptor();
  const auto& reflection = *message.GetReflection();
  std::vector<std::string> names;
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    const bool is_set =
        field.is_repeated() ? reflection.FieldSize(message, &field) > 0 : reflection.HasField(message, &field);
    const bool is_other = field.containing_oneof() != nullptr && reflection.HasOneof(message, field.containing_oneof());
    if (!is_set && !is_other) names.push_back(field.full_name());
    if (!is_set || field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field.is_map()) continue;
    const Message& part = field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, 0)
                                              : reflection.GetMessage(message, &field);
    for (std::string& name : NotSet(part)) names.push_back(std::move(name));
  }
  return names;
}

// Over the wire and back: nothing is forgotten, neither way. `value` has nothing at its default.
template <class Value>
void CheckComesBack(const Value& value) {
  const auto message = ToProto(value);
  CHECK(NotSet(message) == std::vector<std::string>{});
  auto received = message;
  REQUIRE(received.ParseFromString(message.SerializeAsString()));
  const auto back = FromProto(received);
  REQUIRE(back.has_value());
  CHECK(google::protobuf::util::MessageDifferencer::Equals(ToProto(*back), message));
}

const RunKey kRun{LeadershipId{77}, RunId{5}};
const Point kPoint{PlanNodeId{3}, Step{4}};
const Digest128 kLineage = DigestOf("lineage");

Configuration SomeConfiguration(double lr) {
  return {{Function{Constant{Value{lr}}, Step{0}}, Function{Constant{Value{std::int64_t{7}}}, Step{0}}}};
}

Offer SomeOffer() {
  return {.trainer = "toy",
          .code_digest = "code",
          .data = "digits",
          .data_digest = "data",
          .evaluation_digest = "evaluation",
          .schema = {.hyper_parameters = {{"depth", ValueType::kInteger, Value{std::int64_t{7}}, true},
                                          {"lr", ValueType::kFloating, Value{0.1}, false}},
                     .takes_any = true},
          .metrics = {"accuracy", "loss"}};
}

OrderTerms SomeTerms() {
  return {
      .generation = 2,
      .promises = {{PromiseId{11}, Step{9}, Owed::kState, Need::kClaim},
                   {PromiseId{8}, Step{6}, Owed::kMetrics},
                   {PromiseId{9}, Step{7}, Owed::kState},
                   {PromiseId{10}, Step{8}, Owed::kState, Need::kBranch}},
      .preempt = true,
      .evaluate_every = {5, 10},
      .barred_evaluations = {Step{10}},
      .save_every = Seconds(20),
      .limits = {
          .set_up = Seconds(1), .load = Seconds(2), .train = Seconds(3), .evaluate = Seconds(4), .save = Seconds(5)}};
}

ServerOrders SomeOrders() {
  Order order{
      .run = kRun,
      .slot = 1,
      .reservation = {2, 500, 1000, 3},
      .plan = PlanId{2},
      .offer = SomeOffer(),
      .step = {.updates = 200},
      .start = OrderedStart{kPoint, "file", "sha", SomeConfiguration(0.1), kLineage, SomeConfiguration(0.5), true},
      .path = {{{PlanNodeId{4}, Step{4}, Step{7}}, SomeConfiguration(0.2), DigestOf("other")}},
      .terms = SomeTerms()};
  return {.orders = {std::move(order)},
          .acknowledged_report = 6,
          .superseded_files = {"old"},
          .references = {{kLineage, 12}},
          .draining = true,
          .checks = {{.slot = 1,
                      .reservation = {2, 500, 1000, 3},
                      .offer = SomeOffer(),
                      .step = {.updates = 10},
                      .root = SomeConfiguration(0.3),
                      .limit = Seconds(60)}},
          .refused = "another's"};
}

v1::SynchronizeResponse SomeMessage() { return ToProto(SomeOrders()); }

std::string FieldOf(const v1::SynchronizeResponse& message) {
  const auto orders = FromProto(message);
  REQUIRE_FALSE(orders.has_value());
  CHECK(orders.error().code == ErrorCode::kInvalidArgument);
  return orders.error().field;
}

}  // namespace

TEST_CASE("a registration comes back as it was sent") {
  const Registration registration{
      .server = "gpu-17",
      .incarnation = "abc",
      .devices = {{"gpu-0", DeviceType::kGpu, 2, std::int64_t{16} << 30, 4}, {.name = "cores"}},
      .host_cores = 16,
      .host_memory_bytes = std::int64_t{64} << 30,
      .offers = {{SomeOffer(), "cpu"}},
      .draining = true,
      .trouble = "the store is away",
      .references = {{kLineage, 12, {{SomeOffer(), "cpu"}}, "why"}},
      .version = "0.1.0",
      .checked = {{kLineage, {CheckOutcome::kFailed, "another state\nusual cause: the optimizer"}},
                  {DigestOf("other"), {CheckOutcome::kGivenUp, "it took too long"}},
                  {DigestOf("third"), {CheckOutcome::kPassed, "as ever"}}}};
  CheckComesBack(registration);
  CHECK(FromProto(ToProto(registration)).value() == registration);
  CHECK(DigestOf(FromProto(ToProto(SomeOffer())).value()) == DigestOf(SomeOffer()));
}

TEST_CASE("where a run stands comes back as it was sent") {
  for (const auto state : {RunStatus::State::kTraining, RunStatus::State::kSaving, RunStatus::State::kEnded}) {
    const RunStatus status{kRun, 3, Step{4}, state};
    CheckComesBack(status);
    CHECK(FromProto(ToProto(status)).value() == status);
  }
}

TEST_CASE("orders come back as they were sent") {
  CheckComesBack(SomeOrders());
  const Order order = FromProto(SomeMessage()).value().orders.at(0);
  const Order expected = SomeOrders().orders.at(0);
  CHECK(order.run == expected.run);
  CHECK(order.slot == expected.slot);
  CHECK(order.reservation == expected.reservation);
  CHECK(order.offer == expected.offer);
  CHECK(order.start == expected.start);
  CHECK(order.path == expected.path);
  CHECK(order.terms == expected.terms);
  CHECK(FromProto(SomeMessage()).value().references == SomeOrders().references);
  CHECK(FromProto(SomeMessage()).value().draining);
  CHECK(FromProto(SomeMessage()).value().checks == SomeOrders().checks);
  CHECK(FromProto(SomeMessage()).value().refused == SomeOrders().refused);
}

TEST_CASE("what a node manager logs comes back as it was sent, and what makes no sense is refused") {
  const ServerLogPart part{"gpu", "abc", 7, "one\ntwo \xc3\xa4\n"};
  CheckComesBack(part);
  CHECK(FromProto(ToProto(part)).value() == part);
  const auto refused_field = [&](std::int64_t position, const std::string& text) {
    const auto received = FromProto(ToProto(ServerLogPart{"gpu", "abc", position, text}));
    return received.has_value() ? "" : received.error().field;
  };
  CHECK(refused_field(-1, "x") == "position");
  CHECK(refused_field(0, "") == "text");
  CHECK(refused_field(0, std::string(kServerLogPartBytesMax + 1, 'x')) == "text");
  v1::PutServerLogRequest request = ToProto(part);
  request.set_text(std::string("zero\0byte", 9));
  CHECK(FromProto(request).error().field == "text");
}

TEST_CASE("what a run printed comes back as it was sent, and what makes no sense is refused") {
  const RunOutput output{
      .run = kRun, .incarnation = "abc", .pieces = {{Step{1}, 1, "one\n"}, {Step{3}, 9, "\xc3\xa4"}}};
  CheckComesBack(output);
  CHECK(FromProto(ToProto(output)).value() == output);
  const auto is_refused = [&](const std::vector<OutputPiece>& pieces) {
    const auto received = FromProto(ToProto(RunOutput{kRun, "abc", pieces}));
    return !received.has_value() && received.error().field == "pieces";
  };
  CHECK(is_refused({}));
  CHECK(is_refused({{Step{1}, 0, ""}}));
  CHECK(is_refused({{Step{-1}, 0, "x"}}));
  CHECK(is_refused({{Step{1}, -1, "x"}}));
  CHECK(is_refused({{Step{1}, 0, "two"}, {Step{1}, 2, "x"}}));
  CHECK(is_refused(std::vector<OutputPiece>(33, {Step{1}, 0, "x"})));
  CHECK(is_refused({{Step{1}, 0, std::string(kOutputBytesMax + 1, 'x')}}));
}

TEST_CASE("every kind of report comes back as it was sent") {
  const std::vector<ReportKind> kinds{
      MetricsMeasured{PlanId{2}, kPoint, kLineage, "evaluation", {{"loss", 0.5}}, Seconds(1)},
      TrainingMetrics{
          PlanId{2}, PlanNodeId{3}, kLineage, {{"accuracy", "loss"}, {Step{4}, Step{6}}, {0.5, 1, 0.75, 2}}},
      StateStored{PlanId{2}, kPoint, kLineage, "file", 100, "sha", Seconds(1)},
      PromiseLost{PromiseId{8}, Step{4}, "why"},
      StepsTrained{PlanNodeId{3}, Step{4}, Step{6}, Seconds(1)},
      RunFailed{RunFailed::Kind::kKilled, kPoint, "message"},
      EvaluationFailed{EvaluationFailed::Kind::kOutOfMemory, kPoint, "evaluation", "message"},
      StartUnusable{kPoint, "file", "why"},
      StoreFull{100},
      RunEnded{Step{4},
               Seconds(1),
               Seconds(2),
               Seconds(3),
               {Step{3}, Step{4}},
               {{PlanNodeId{3}, 1 << 30, 2, 3, 4}},
               "refused"}};
  CHECK(kinds.size() == std::variant_size_v<ReportKind>);
  for (const ReportKind& kind : kinds) {
    INFO(kind.index());
    const Report report{9, kRun, kind};
    CheckComesBack(report);
    const Report back = FromProto(ToProto(report)).value();
    CHECK(back.number == 9);
    CHECK(back.run == kRun);
    CHECK(back.kind.index() == kind.index());
  }
}

TEST_CASE("every kind of failure comes back as it was sent") {
  using Run = RunFailed::Kind;
  for (const Run kind :
       {Run::kCrash, Run::kKilled, Run::kTrainer, Run::kOutOfMemory, Run::kDiverged, Run::kUnusable, Run::kFinished}) {
    const Report back = FromProto(ToProto(Report{1, kRun, RunFailed{kind, kPoint, ""}})).value();
    CHECK(std::get<RunFailed>(back.kind).kind == kind);
  }
  using Evaluation = EvaluationFailed::Kind;
  for (const Evaluation kind :
       {Evaluation::kCrash, Evaluation::kTrainer, Evaluation::kOutOfMemory, Evaluation::kUnusable}) {
    const Report back = FromProto(ToProto(Report{1, kRun, EvaluationFailed{kind, kPoint, "", ""}})).value();
    CHECK(std::get<EvaluationFailed>(back.kind).kind == kind);
  }
}

TEST_CASE("metrics that are not finite arrive to the bit") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Report report{1, kRun, MetricsMeasured{PlanId{2}, kPoint, kLineage, "e", {{"a", nan}, {"b", -infinity}}, {}}};
  const auto back = std::get<MetricsMeasured>(FromProto(ToProto(report)).value().kind);
  CHECK(std::isnan(back.metrics.at("a")));
  CHECK(back.metrics.at("b") == -infinity);
}

TEST_CASE("a limit that is not set is none, and a step that is an epoch is no number of updates") {
  ServerOrders orders = SomeOrders();
  orders.orders[0].terms.limits = {.train = Seconds(3)};
  orders.orders[0].step = {};
  orders.orders[0].start.reset();
  const Order back = FromProto(ToProto(orders)).value().orders.at(0);
  CHECK(back.terms.limits == TimeLimits{.train = Seconds(3)});
  CHECK(back.step == StepMeaning{});
  CHECK_FALSE(back.start.has_value());
}

TEST_CASE("times that are no times come in as none") {
  v1::SynchronizeResponse message = SomeMessage();
  v1::OrderTerms& terms = *message.mutable_orders(0)->mutable_terms();
  terms.mutable_limits()->set_train_seconds(std::numeric_limits<double>::quiet_NaN());
  terms.set_save_every_seconds(-1);
  const OrderTerms back = FromProto(message).value().orders.at(0).terms;
  CHECK_FALSE(back.limits.train.has_value());
  CHECK(back.save_every == Seconds(0));
}

TEST_CASE("reports reach the master whatever bytes their texts hold") {
  const std::string garbage("a\0\xff\xc3z", 5);
  const auto sent = [&](ReportKind kind) {
    const std::string wire = ToProto(Report{1, kRun, std::move(kind)}).SerializeAsString();
    v1::Report received;
    REQUIRE(received.ParseFromString(wire));
    return received;
  };
  CHECK(sent(MetricsMeasured{PlanId{2}, kPoint, kLineage, "e", {{garbage, 0.5}}, {}})
            .metrics_measured()
            .metrics()
            .at("a???z") == 0.5);
  CHECK(sent(PromiseLost{PromiseId{1}, Step{4}, garbage}).promise_lost().why() == "a???z");
  CHECK(sent(RunFailed{RunFailed::Kind::kCrash, kPoint, garbage}).run_failed().message() == "a???z");
  CHECK(sent(EvaluationFailed{EvaluationFailed::Kind::kCrash, kPoint, "e", garbage}).evaluation_failed().message() ==
        "a???z");
  CHECK(sent(StartUnusable{kPoint, "file", garbage}).start_unusable().why() == "a???z");
  CHECK(sent(RunEnded{.refused = garbage}).run_ended().refused() == "a???z");
}

TEST_CASE("a long message keeps its beginning and its end") {
  const std::string message = "first" + std::string(100'000, 'x') + "last";
  const v1::Report sent = ToProto(Report{1, kRun, RunFailed{RunFailed::Kind::kTrainer, kPoint, message}});
  CHECK(sent.run_failed().message().size() == std::size_t{16} << 10);
  CHECK(sent.run_failed().message().starts_with("first"));
  CHECK(sent.run_failed().message().ends_with("last"));
}

TEST_CASE("orders that make no sense are refused with the field") {
  v1::SynchronizeResponse message = SomeMessage();
  v1::Order& order = *message.mutable_orders(0);
  SECTION("no run") {
    order.clear_run();
    CHECK(FieldOf(message) == "orders[0].run");
  }
  SECTION("no leadership") {
    order.mutable_run()->clear_leadership_id();
    CHECK(FieldOf(message) == "orders[0].run");
  }
  SECTION("no terms") {
    order.clear_terms();
    CHECK(FieldOf(message) == "orders[0].terms");
  }
  SECTION("no step") {
    order.clear_step();
    CHECK(FieldOf(message) == "orders[0].step");
  }
  SECTION("an offer of an unknown type") {
    order.mutable_offer()->mutable_hyper_parameters(1)->clear_type();
    CHECK(FieldOf(message) == "orders[0].offer.lr.type");
  }
  SECTION("a configuration that is none") {
    order.mutable_path(0)->set_configuration("x");
    CHECK(FieldOf(message) == "orders[0].path[0].configuration");
  }
  SECTION("a start without a point") {
    order.mutable_start()->clear_point();
    CHECK(FieldOf(message) == "orders[0].start.point");
  }
  SECTION("a lineage that is no digest") {
    order.mutable_start()->set_lineage_digest("12");
    CHECK(FieldOf(message) == "orders[0].start.lineage_digest");
  }
  SECTION("a promise of nothing") {
    order.mutable_terms()->mutable_promises(1)->clear_owed();
    CHECK(FieldOf(message) == "orders[0].terms.promises[1].owed");
  }
  SECTION("a promise without an id") {
    order.mutable_terms()->mutable_promises(0)->clear_promise_id();
    CHECK(FieldOf(message) == "orders[0].terms.promises[0].promise_id");
  }
  SECTION("a reservation of nothing") {
    order.clear_reservation();
    CHECK(FieldOf(message) == "orders[0].reservation.compute_thousandths");
  }
  SECTION("a period of no steps") {
    order.mutable_terms()->set_evaluate_every_steps(0, 0);
    CHECK(FieldOf(message) == "orders[0].terms.evaluate_every_steps");
  }
}

TEST_CASE("what node managers say that makes no sense is refused with the field") {
  v1::Registration registration = ToProto(
      Registration{.server = "server", .incarnation = "incarnation", .devices = {{.name = "cores"}}, .offers = {}});
  registration.clear_server();
  CHECK(FromProto(registration).error().field == "server");
  registration.set_server("server");
  registration.mutable_devices(0)->set_slot_count(0);
  CHECK(FromProto(registration).error().field == "devices[0].slot_count");
  registration.mutable_devices(0)->clear_type();
  CHECK(FromProto(registration).error().field == "devices[0].type");
  registration.clear_devices();
  registration.set_host_cores(-1);
  CHECK(FromProto(registration).error().field == "host_cores");
  registration.clear_host_cores();
  registration.set_host_memory_bytes(-1);
  CHECK(FromProto(registration).error().field == "host_memory_bytes");
  registration.clear_incarnation();
  CHECK(FromProto(registration).error().field == "incarnation");
  v1::RunStatus status = ToProto(RunStatus{kRun, 1, Step{1}, {}});
  status.clear_state();
  CHECK(FromProto(status).error().field == "state");
  v1::Report report = ToProto(Report{1, kRun, RunFailed{RunFailed::Kind::kCrash, kPoint, ""}});
  report.mutable_run_failed()->clear_kind();
  CHECK(FromProto(report).error().field == "kind");
  report.mutable_run_failed()->clear_point();
  CHECK(FromProto(report).error().field == "point");
  report.clear_run_failed();
  CHECK(FromProto(report).error().field == "kind");
  report.clear_run();
  CHECK(FromProto(report).error().field == "run");
}

}  // namespace espalier
