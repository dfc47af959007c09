#include "proto/convert_node_protocol.h"

#include <cmath>

#include "base/text.h"
#include "proto/convert_schema.h"

namespace espalier {
namespace {

// Beside those of the parts.
using espalier::FromProto;
using espalier::ToProto;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

// Of what a report says for people. As much as the master keeps.
constexpr std::size_t kMessageBytesMax = std::size_t{16} << 10;

std::string ForPeople(const std::string& text) { return CleanText(text, kMessageBytesMax); }

tl::unexpected<Error> Missing(std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, "is missing", std::move(field));
}

tl::unexpected<Error> Unknown(std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, "is of a kind that this program does not know", std::move(field));
}

std::string At(const char* field, int index) { return std::string(field) + "[" + std::to_string(index) + "]"; }

// Converts a list, naming the item that cannot be converted.
template <class Message, class Item>
Result<void> Append(const google::protobuf::RepeatedPtrField<Message>& messages, const char* field,
                    Result<Item> (*convert)(const Message&), std::vector<Item>& items) {
  for (int i = 0; i < messages.size(); ++i) {
    Result<Item> item = convert(messages.Get(i));
    if (!item.has_value()) return InField(At(field, i), item.error());
    items.push_back(std::move(*item));
  }
  return {};
}

Seconds ToSeconds(double seconds) { return Seconds(std::isfinite(seconds) && seconds > 0 ? seconds : 0); }

std::optional<Seconds> ToLimit(double seconds) {
  return ToSeconds(seconds) > Seconds(0) ? std::optional(ToSeconds(seconds)) : std::nullopt;
}

double FromLimit(const std::optional<Seconds>& limit) { return limit.value_or(Seconds(0)).count(); }

Result<Digest128> ToDigest(const std::string& hex) {
  Result<Digest128> digest = ParseDigest128(hex);
  if (!digest.has_value()) return InField("lineage_digest", digest.error());
  return digest;
}

Result<PackedConfiguration> ToConfiguration(const std::string& bytes) {
  Result<PackedConfiguration> configuration = PackedConfiguration::Parse(bytes);
  if (!configuration.has_value()) return InField("configuration", configuration.error());
  return configuration;
}

void Set(RunKey run, v1::RunKey& message) {
  message.set_leadership_id(run.leadership.value);
  message.set_run_id(run.run.value);
}

Result<RunKey> FromProto(const v1::RunKey& message) {
  if (message.leadership_id() <= 0 || message.run_id() <= 0) return Missing("run");
  return RunKey{LeadershipId{message.leadership_id()}, RunId{message.run_id()}};
}

void Set(Point point, v1::Point& message) {
  message.set_plan_node_id(point.node.value);
  message.set_step(point.step.value);
}

Result<Point> ToPoint(const v1::Point& message) {
  if (message.plan_node_id() <= 0) return Missing("point");
  return Point{PlanNodeId{message.plan_node_id()}, Step{message.step()}};
}

void Set(const Metrics& metrics, google::protobuf::Map<std::string, double>& message) {
  for (const auto& [name, value] : metrics) message[CleanText(name)] = value;
}

void Set(const OrderedStart& start, v1::OrderedStart& message) {
  Set(start.point, *message.mutable_point());
  message.set_file(start.file);
  message.set_state_sha256(start.state_sha256);
  message.set_configuration(start.configuration.bytes());
  message.set_lineage_digest(ToHex(start.lineage));
  message.set_root_configuration(start.root.bytes());
}

Result<OrderedStart> FromProto(const v1::OrderedStart& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  ESPALIER_ASSIGN(PackedConfiguration configuration, ToConfiguration(message.configuration()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  ESPALIER_ASSIGN(PackedConfiguration root, ToConfiguration(message.root_configuration()));
  return OrderedStart{point,   message.file(), message.state_sha256(), std::move(configuration),
                      lineage, std::move(root)};
}

void Set(const OrderedStage& stage, v1::OrderedStage& message) {
  message.set_plan_node_id(stage.stage.node.value);
  message.set_from_step(stage.stage.from.value);
  message.set_to_step(stage.stage.to.value);
  message.set_configuration(stage.configuration.bytes());
  message.set_lineage_digest(ToHex(stage.lineage));
}

Result<OrderedStage> FromProto(const v1::OrderedStage& message) {
  if (message.plan_node_id() <= 0) return Missing("plan_node_id");
  ESPALIER_ASSIGN(PackedConfiguration configuration, ToConfiguration(message.configuration()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  return OrderedStage{{PlanNodeId{message.plan_node_id()}, Step{message.from_step()}, Step{message.to_step()}},
                      std::move(configuration),
                      lineage};
}

v1::Owed ToProto(Owed owed) { return owed == Owed::kMetrics ? v1::OWED_METRICS : v1::OWED_STATE; }

Result<OrderedPromise> FromProto(const v1::OrderedPromise& message) {
  if (message.promise_id() <= 0) return Missing("promise_id");
  if (message.owed() != v1::OWED_METRICS && message.owed() != v1::OWED_STATE) return Unknown("owed");
  return OrderedPromise{PromiseId{message.promise_id()}, Step{message.step()},
                        message.owed() == v1::OWED_METRICS ? Owed::kMetrics : Owed::kState};
}

void Set(const TimeLimits& limits, v1::TimeLimits& message) {
  message.set_set_up_seconds(FromLimit(limits.set_up));
  message.set_load_seconds(FromLimit(limits.load));
  message.set_train_seconds(FromLimit(limits.train));
  message.set_evaluate_seconds(FromLimit(limits.evaluate));
  message.set_save_seconds(FromLimit(limits.save));
}

TimeLimits FromProto(const v1::TimeLimits& message) {
  return {.set_up = ToLimit(message.set_up_seconds()),
          .load = ToLimit(message.load_seconds()),
          .train = ToLimit(message.train_seconds()),
          .evaluate = ToLimit(message.evaluate_seconds()),
          .save = ToLimit(message.save_seconds())};
}

void Set(const OrderTerms& terms, v1::OrderTerms& message) {
  message.set_generation(terms.generation);
  for (const OrderedPromise& promise : terms.promises) {
    v1::OrderedPromise& part = *message.add_promises();
    part.set_promise_id(promise.id.value);
    part.set_step(promise.step.value);
    part.set_owed(ToProto(promise.owed));
  }
  message.set_preempt(terms.preempt);
  for (const std::int64_t steps : terms.evaluate_every) message.add_evaluate_every_steps(steps);
  for (const Step step : terms.barred_evaluations) message.add_barred_evaluation_steps(step.value);
  message.set_save_every_seconds(terms.save_every.count());
  Set(terms.limits, *message.mutable_limits());
}

Result<OrderTerms> FromProto(const v1::OrderTerms& message) {
  OrderTerms terms;
  terms.generation = message.generation();
  ESPALIER_RETURN_IF_ERROR(Append(message.promises(), "promises", &FromProto, terms.promises));
  terms.preempt = message.preempt();
  for (const std::int64_t steps : message.evaluate_every_steps()) {
    if (steps < 1) return MakeError(ErrorCode::kInvalidArgument, "expected at least 1", "evaluate_every_steps");
    terms.evaluate_every.push_back(steps);
  }
  for (const std::int64_t step : message.barred_evaluation_steps()) terms.barred_evaluations.push_back(Step{step});
  terms.save_every = ToSeconds(message.save_every_seconds());
  terms.limits = FromProto(message.limits());
  return terms;
}

void Set(const Order& order, v1::Order& message) {
  Set(order.run, *message.mutable_run());
  message.set_slot(order.slot);
  message.set_plan_id(order.plan.value);
  *message.mutable_offer() = ToProto(order.offer);
  *message.mutable_step() = ToProto(order.step);
  if (order.start.has_value()) Set(*order.start, *message.mutable_start());
  for (const OrderedStage& stage : order.path) Set(stage, *message.add_path());
  Set(order.terms, *message.mutable_terms());
}

Result<Order> FromProto(const v1::Order& message) {
  Order order;
  ESPALIER_ASSIGN(order.run, FromProto(message.run()));
  order.slot = message.slot();
  order.plan = PlanId{message.plan_id()};
  Result<Offer> offer = FromProto(message.offer());
  if (!offer.has_value()) return InField("offer", offer.error());
  order.offer = std::move(*offer);
  ESPALIER_ASSIGN(order.step, FromProto(message.step()));
  if (message.has_start()) {
    Result<OrderedStart> start = FromProto(message.start());
    if (!start.has_value()) return InField("start", start.error());
    order.start = std::move(*start);
  }
  ESPALIER_RETURN_IF_ERROR(Append(message.path(), "path", &FromProto, order.path));
  if (!message.has_terms()) return Missing("terms");
  Result<OrderTerms> terms = FromProto(message.terms());
  if (!terms.has_value()) return InField("terms", terms.error());
  order.terms = std::move(*terms);
  return order;
}

void Set(const MetricsMeasured& measured, v1::MetricsMeasured& message) {
  message.set_plan_id(measured.plan.value);
  Set(measured.point, *message.mutable_point());
  message.set_lineage_digest(ToHex(measured.lineage));
  message.set_evaluation_digest(measured.evaluation);
  Set(measured.metrics, *message.mutable_metrics());
  message.set_seconds(measured.time.count());
}

Result<ReportKind> FromProto(const v1::MetricsMeasured& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  return MetricsMeasured{PlanId{message.plan_id()},
                         point,
                         lineage,
                         message.evaluation_digest(),
                         {message.metrics().begin(), message.metrics().end()},
                         ToSeconds(message.seconds())};
}

void Set(const StateStored& stored, v1::StateStored& message) {
  message.set_plan_id(stored.plan.value);
  Set(stored.point, *message.mutable_point());
  message.set_lineage_digest(ToHex(stored.lineage));
  message.set_file(stored.file);
  message.set_bytes(stored.bytes);
  message.set_state_sha256(stored.state_sha256);
  message.set_seconds(stored.time.count());
}

Result<ReportKind> FromProto(const v1::StateStored& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  return StateStored{
      PlanId{message.plan_id()},   point, lineage, message.file(), message.bytes(), message.state_sha256(),
      ToSeconds(message.seconds())};
}

void Set(const PromiseLost& lost, v1::PromiseLost& message) {
  message.set_promise_id(lost.promise.value);
  message.set_step(lost.step.value);
  message.set_why(ForPeople(lost.why));
}

void Set(const StepsTrained& trained, v1::StepsTrained& message) {
  message.set_plan_node_id(trained.node.value);
  message.set_from_step(trained.from.value);
  message.set_to_step(trained.to.value);
  message.set_seconds(trained.time.count());
}

constexpr std::pair<RunFailed::Kind, v1::RunFailed::Kind> kRunFailures[] = {
    {RunFailed::Kind::kCrash, v1::RunFailed::KIND_CRASH},
    {RunFailed::Kind::kKilled, v1::RunFailed::KIND_KILLED},
    {RunFailed::Kind::kTrainer, v1::RunFailed::KIND_TRAINER},
    {RunFailed::Kind::kOutOfMemory, v1::RunFailed::KIND_OUT_OF_MEMORY},
    {RunFailed::Kind::kDiverged, v1::RunFailed::KIND_DIVERGED}};

constexpr std::pair<EvaluationFailed::Kind, v1::EvaluationFailed::Kind> kEvaluationFailures[] = {
    {EvaluationFailed::Kind::kCrash, v1::EvaluationFailed::KIND_CRASH},
    {EvaluationFailed::Kind::kTrainer, v1::EvaluationFailed::KIND_TRAINER},
    {EvaluationFailed::Kind::kOutOfMemory, v1::EvaluationFailed::KIND_OUT_OF_MEMORY}};

void Set(const RunFailed& failed, v1::RunFailed& message) {
  for (const auto& [kind, on_the_wire] : kRunFailures) {
    if (kind == failed.kind) message.set_kind(on_the_wire);
  }
  Set(failed.point, *message.mutable_point());
  message.set_message(ForPeople(failed.message));
}

Result<ReportKind> FromProto(const v1::RunFailed& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  for (const auto& [kind, on_the_wire] : kRunFailures) {
    if (on_the_wire == message.kind()) return RunFailed{kind, point, message.message()};
  }
  return Unknown("kind");
}

void Set(const EvaluationFailed& failed, v1::EvaluationFailed& message) {
  for (const auto& [kind, on_the_wire] : kEvaluationFailures) {
    if (kind == failed.kind) message.set_kind(on_the_wire);
  }
  Set(failed.point, *message.mutable_point());
  message.set_evaluation_digest(failed.evaluation);
  message.set_message(ForPeople(failed.message));
}

Result<ReportKind> FromProto(const v1::EvaluationFailed& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  for (const auto& [kind, on_the_wire] : kEvaluationFailures) {
    if (on_the_wire == message.kind()) {
      return EvaluationFailed{kind, point, message.evaluation_digest(), message.message()};
    }
  }
  return Unknown("kind");
}

void Set(const StartUnusable& start, v1::StartUnusable& message) {
  Set(start.point, *message.mutable_point());
  message.set_file(start.file);
  message.set_why(ForPeople(start.why));
}

Result<ReportKind> FromProto(const v1::StartUnusable& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  return StartUnusable{point, message.file(), message.why()};
}

void Set(const RunEnded& ended, v1::RunEnded& message) {
  message.set_step(ended.step.value);
  message.set_slot_seconds(ended.slot_time.count());
  message.set_set_up_seconds(ended.set_up_time.count());
  message.set_load_seconds(ended.load_time.count());
  for (const Step step : ended.saves_under_way) message.add_saves_under_way_steps(step.value);
  message.set_refused(ForPeople(ended.refused));
}

RunEnded FromProto(const v1::RunEnded& message) {
  RunEnded ended{.step = Step{message.step()},
                 .slot_time = ToSeconds(message.slot_seconds()),
                 .set_up_time = ToSeconds(message.set_up_seconds()),
                 .load_time = ToSeconds(message.load_seconds()),
                 .saves_under_way = {},
                 .refused = message.refused()};
  for (const std::int64_t step : message.saves_under_way_steps()) ended.saves_under_way.push_back(Step{step});
  return ended;
}

void Set(const ReportKind& kind, v1::Report& message) {
  std::visit(Overloaded{[&](const MetricsMeasured& is) { Set(is, *message.mutable_metrics_measured()); },
                        [&](const StateStored& is) { Set(is, *message.mutable_state_stored()); },
                        [&](const PromiseLost& is) { Set(is, *message.mutable_promise_lost()); },
                        [&](const StepsTrained& is) { Set(is, *message.mutable_steps_trained()); },
                        [&](const RunFailed& is) { Set(is, *message.mutable_run_failed()); },
                        [&](const EvaluationFailed& is) { Set(is, *message.mutable_evaluation_failed()); },
                        [&](const StartUnusable& is) { Set(is, *message.mutable_start_unusable()); },
                        [&](const RunEnded& is) { Set(is, *message.mutable_run_ended()); }},
             kind);
}

Result<ReportKind> KindOf(const v1::Report& message) {
  switch (message.kind_case()) {
    case v1::Report::kMetricsMeasured:
      return FromProto(message.metrics_measured());
    case v1::Report::kStateStored:
      return FromProto(message.state_stored());
    case v1::Report::kPromiseLost:
      return PromiseLost{PromiseId{message.promise_lost().promise_id()}, Step{message.promise_lost().step()},
                         message.promise_lost().why()};
    case v1::Report::kStepsTrained: {
      const v1::StepsTrained& trained = message.steps_trained();
      return StepsTrained{PlanNodeId{trained.plan_node_id()}, Step{trained.from_step()}, Step{trained.to_step()},
                          ToSeconds(trained.seconds())};
    }
    case v1::Report::kRunFailed:
      return FromProto(message.run_failed());
    case v1::Report::kEvaluationFailed:
      return FromProto(message.evaluation_failed());
    case v1::Report::kStartUnusable:
      return FromProto(message.start_unusable());
    case v1::Report::kRunEnded:
      return FromProto(message.run_ended());
    case v1::Report::KIND_NOT_SET:
      break;
  }
  return Unknown("kind");
}

constexpr std::pair<RunStatus::State, v1::RunStatus::State> kRunStates[] = {
    {RunStatus::State::kTraining, v1::RunStatus::STATE_TRAINING},
    {RunStatus::State::kSaving, v1::RunStatus::STATE_SAVING},
    {RunStatus::State::kEnded, v1::RunStatus::STATE_ENDED}};

}  // namespace

v1::TrainerDescription ToProto(const Offer& offer) {
  v1::TrainerDescription message;
  message.set_name(offer.trainer);
  message.set_code_digest(offer.code_digest);
  message.set_data(offer.data);
  message.set_data_digest(offer.data_digest);
  message.set_evaluation_digest(offer.evaluation_digest);
  AddSchema(offer.schema, message);
  for (const std::string& metric : offer.metrics) message.add_metrics(metric);
  return message;
}

Result<Offer> FromProto(const v1::TrainerDescription& message) {
  Offer offer{.trainer = message.name(),
              .code_digest = message.code_digest(),
              .data = message.data(),
              .data_digest = message.data_digest(),
              .evaluation_digest = message.evaluation_digest(),
              .schema = {},
              .metrics = {message.metrics().begin(), message.metrics().end()}};
  ESPALIER_ASSIGN(offer.schema, SchemaOf(message));
  return offer;
}

Result<ServerOffer> FromProto(const v1::ServerOffer& message) {
  if (!message.has_trainer()) return Missing("trainer");
  ESPALIER_ASSIGN(Offer offer, FromProto(message.trainer()));
  return ServerOffer{std::move(offer), message.device_kind()};
}

v1::Registration ToProto(const Registration& registration) {
  v1::Registration message;
  message.set_server(registration.server);
  message.set_incarnation(registration.incarnation);
  message.set_slot_count(registration.slot_count);
  message.set_draining(registration.draining);
  for (const ServerOffer& offered : registration.offers) {
    v1::ServerOffer& offer = *message.add_offers();
    *offer.mutable_trainer() = ToProto(offered.offer);
    offer.set_device_kind(offered.device_kind);
  }
  return message;
}

Result<Registration> FromProto(const v1::Registration& message) {
  if (message.server().empty()) return Missing("server");
  if (message.incarnation().empty()) return Missing("incarnation");
  if (message.slot_count() < 0) {
    return MakeError(ErrorCode::kInvalidArgument, "must not be negative", "slot_count");
  }
  Registration registration{.server = message.server(),
                            .incarnation = message.incarnation(),
                            .slot_count = message.slot_count(),
                            .offers = {},
                            .draining = message.draining()};
  ESPALIER_RETURN_IF_ERROR(Append(message.offers(), "offers", &FromProto, registration.offers));
  return registration;
}

v1::RunStatus ToProto(const RunStatus& status) {
  v1::RunStatus message;
  Set(status.run, *message.mutable_run());
  message.set_generation(status.generation);
  message.set_step(status.step.value);
  for (const auto& [state, on_the_wire] : kRunStates) {
    if (state == status.state) message.set_state(on_the_wire);
  }
  return message;
}

Result<RunStatus> FromProto(const v1::RunStatus& message) {
  ESPALIER_ASSIGN(const RunKey run, FromProto(message.run()));
  for (const auto& [state, on_the_wire] : kRunStates) {
    if (on_the_wire == message.state()) return RunStatus{run, message.generation(), Step{message.step()}, state};
  }
  return Unknown("state");
}

v1::Report ToProto(const Report& report) {
  v1::Report message;
  message.set_number(report.number);
  Set(report.run, *message.mutable_run());
  Set(report.kind, message);
  return message;
}

Result<Report> FromProto(const v1::Report& message) {
  ESPALIER_ASSIGN(const RunKey run, FromProto(message.run()));
  ESPALIER_ASSIGN(ReportKind kind, KindOf(message));
  return Report{message.number(), run, std::move(kind)};
}

v1::SynchronizeResponse ToProto(const ServerOrders& orders) {
  v1::SynchronizeResponse message;
  for (const Order& order : orders.orders) Set(order, *message.add_orders());
  message.set_acknowledged_report(orders.acknowledged_report);
  for (const std::string& file : orders.superseded_files) message.add_superseded_files(file);
  return message;
}

Result<ServerOrders> FromProto(const v1::SynchronizeResponse& message) {
  ServerOrders orders;
  ESPALIER_RETURN_IF_ERROR(Append(message.orders(), "orders", &FromProto, orders.orders));
  orders.acknowledged_report = message.acknowledged_report();
  orders.superseded_files.assign(message.superseded_files().begin(), message.superseded_files().end());
  return orders;
}

}  // namespace espalier
