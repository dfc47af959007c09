#include "proto/convert_node_protocol.h"

#include "proto/convert_schema.h"
#include "proto/node_protocol_parts.h"

namespace espalier {
namespace {

// Beside those of the parts.
using espalier::FromProto;
using espalier::ToProto;

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

std::optional<Seconds> ToLimit(double seconds) {
  return ToSeconds(seconds) > Seconds(0) ? std::optional(ToSeconds(seconds)) : std::nullopt;
}

double FromLimit(const std::optional<Seconds>& limit) { return limit.value_or(Seconds(0)).count(); }

Result<PackedConfiguration> ToConfiguration(const std::string& bytes) {
  Result<PackedConfiguration> configuration = PackedConfiguration::Parse(bytes);
  if (!configuration.has_value()) return InField("configuration", configuration.error());
  return configuration;
}

void Set(const OrderedStart& start, v1::OrderedStart& message) {
  Set(start.point, *message.mutable_point());
  message.set_file(start.file);
  message.set_state_sha256(start.state_sha256);
  message.set_configuration(start.configuration.bytes());
  message.set_lineage_digest(ToHex(start.lineage));
  message.set_root_configuration(start.root.bytes());
  message.set_of_other_code(start.of_other_code);
}

Result<OrderedStart> FromProto(const v1::OrderedStart& message) {
  ESPALIER_ASSIGN(const Point point, ToPoint(message.point()));
  ESPALIER_ASSIGN(PackedConfiguration configuration, ToConfiguration(message.configuration()));
  ESPALIER_ASSIGN(const Digest128 lineage, ToDigest(message.lineage_digest()));
  ESPALIER_ASSIGN(PackedConfiguration root, ToConfiguration(message.root_configuration()));
  return OrderedStart{point,   message.file(),  message.state_sha256(), std::move(configuration),
                      lineage, std::move(root), message.of_other_code()};
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

v1::Need ToProto(Need need) {
  switch (need) {
    case Need::kClaim:
      return v1::NEED_CLAIM;
    case Need::kBranch:
      return v1::NEED_BRANCH;
    case Need::kOnTheWay:
      break;
  }
  return v1::NEED_UNSPECIFIED;
}

// One that this version does not know is only less urgent than it might be.
Need FromProto(v1::Need need) {
  if (need == v1::NEED_CLAIM) return Need::kClaim;
  return need == v1::NEED_BRANCH ? Need::kBranch : Need::kOnTheWay;
}

void Set(const Reservation& reservation, v1::Reservation& message) {
  message.set_device(reservation.device);
  message.set_compute_thousandths(reservation.compute);
  message.set_memory_bytes(reservation.memory_bytes);
  message.set_host_cores(reservation.host_cores);
}

// Whether the server has it, it says itself.
Result<Reservation> FromProto(const v1::Reservation& message) {
  if (message.compute_thousandths() < 1 || message.compute_thousandths() > kComputeMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 1 to " + std::to_string(kComputeMax),
                     "compute_thousandths");
  }
  return Reservation{message.device(), message.compute_thousandths(), message.memory_bytes(), message.host_cores()};
}

v1::Owed ToProto(Owed owed) { return owed == Owed::kMetrics ? v1::OWED_METRICS : v1::OWED_STATE; }

Result<OrderedPromise> FromProto(const v1::OrderedPromise& message) {
  if (message.promise_id() <= 0) return Missing("promise_id");
  if (message.owed() != v1::OWED_METRICS && message.owed() != v1::OWED_STATE) return Unknown("owed");
  return OrderedPromise{PromiseId{message.promise_id()}, Step{message.step()},
                        message.owed() == v1::OWED_METRICS ? Owed::kMetrics : Owed::kState, FromProto(message.need())};
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
    part.set_need(ToProto(promise.need));
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
  Set(order.reservation, *message.mutable_reservation());
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
  Result<Reservation> reservation = FromProto(message.reservation());
  if (!reservation.has_value()) return InField("reservation", reservation.error());
  order.reservation = *reservation;
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

v1::ServerOffer ToProto(const ServerOffer& offered) {
  v1::ServerOffer message;
  *message.mutable_trainer() = ToProto(offered.offer);
  message.set_device_kind(offered.device_kind);
  return message;
}

Result<ServerOffer> FromProto(const v1::ServerOffer& message) {
  if (!message.has_trainer()) return Missing("trainer");
  ESPALIER_ASSIGN(Offer offer, FromProto(message.trainer()));
  return ServerOffer{std::move(offer), message.device_kind()};
}

namespace {

using espalier::FromProto;
using espalier::ToProto;

v1::DescribedReference ToProto(const DescribedReference& described) {
  v1::DescribedReference message;
  message.set_reference_digest(ToHex(described.reference));
  message.set_asked(described.asked);
  for (const ServerOffer& offered : described.offers) *message.add_offers() = ToProto(offered);
  message.set_refused(ForPeople(described.refused));
  return message;
}

Result<Digest128> ToReference(const std::string& hex) {
  Result<Digest128> digest = ParseDigest128(hex);
  if (!digest.has_value()) return InField("reference_digest", digest.error());
  return digest;
}

Result<DescribedReference> FromProto(const v1::DescribedReference& message) {
  DescribedReference described{.asked = message.asked(), .offers = {}, .refused = message.refused()};
  ESPALIER_ASSIGN(described.reference, ToReference(message.reference_digest()));
  ESPALIER_RETURN_IF_ERROR(Append(message.offers(), "offers", &FromProto, described.offers));
  return described;
}

Result<WantedReference> FromProto(const v1::WantedReference& message) {
  ESPALIER_ASSIGN(const Digest128 reference, ToReference(message.reference_digest()));
  return WantedReference{reference, message.asked()};
}

v1::WantedCheck ToProto(const WantedCheck& wanted) {
  v1::WantedCheck message;
  Set(wanted.reservation, *message.mutable_reservation());
  message.set_slot(wanted.slot);
  *message.mutable_offer() = ToProto(wanted.offer);
  *message.mutable_step() = ToProto(wanted.step);
  message.set_root_configuration(wanted.root.bytes());
  message.set_limit_seconds(wanted.limit.count());
  return message;
}

Result<WantedCheck> FromProto(const v1::WantedCheck& message) {
  WantedCheck wanted{.slot = message.slot(), .reservation = {}, .offer = {}, .step = {}, .root = {}};
  Result<Reservation> reservation = FromProto(message.reservation());
  if (!reservation.has_value()) return InField("reservation", reservation.error());
  wanted.reservation = *reservation;
  Result<Offer> offer = FromProto(message.offer());
  if (!offer.has_value()) return InField("offer", offer.error());
  wanted.offer = *std::move(offer);
  ESPALIER_ASSIGN(wanted.step, FromProto(message.step()));
  ESPALIER_ASSIGN(wanted.root, ToConfiguration(message.root_configuration()));
  wanted.limit = ToSeconds(message.limit_seconds());
  return wanted;
}

v1::CheckedTrainer::Outcome ToProto(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kPassed:
      return v1::CheckedTrainer::OUTCOME_PASSED;
    case CheckOutcome::kFailed:
      return v1::CheckedTrainer::OUTCOME_FAILED;
    case CheckOutcome::kGivenUp:
      return v1::CheckedTrainer::OUTCOME_GIVEN_UP;
  }
  return v1::CheckedTrainer::OUTCOME_UNSPECIFIED;
}

Result<CheckOutcome> FromProto(v1::CheckedTrainer::Outcome outcome) {
  switch (outcome) {
    case v1::CheckedTrainer::OUTCOME_PASSED:
      return CheckOutcome::kPassed;
    case v1::CheckedTrainer::OUTCOME_FAILED:
      return CheckOutcome::kFailed;
    case v1::CheckedTrainer::OUTCOME_GIVEN_UP:
      return CheckOutcome::kGivenUp;
    default:
      return Unknown("outcome");
  }
}

v1::CheckedTrainer ToProto(const CheckedTrainer& checked) {
  v1::CheckedTrainer message;
  message.set_trainer_digest(ToHex(checked.trainer));
  message.set_outcome(ToProto(checked.finding.outcome));
  message.set_message(ForPeople(checked.finding.message));
  return message;
}

Result<CheckedTrainer> FromProto(const v1::CheckedTrainer& message) {
  CheckedTrainer checked{{}, {.outcome = {}, .message = message.message()}};
  Result<Digest128> trainer = ParseDigest128(message.trainer_digest());
  if (!trainer.has_value()) return InField("trainer_digest", trainer.error());
  checked.trainer = *trainer;
  ESPALIER_ASSIGN(checked.finding.outcome, FromProto(message.outcome()));
  return checked;
}

v1::DeviceType ToProto(DeviceType type) {
  return type == DeviceType::kGpu ? v1::DEVICE_TYPE_GPU : v1::DEVICE_TYPE_CORES;
}

Result<Device> FromProto(const v1::Device& message) {
  if (message.type() != v1::DEVICE_TYPE_CORES && message.type() != v1::DEVICE_TYPE_GPU) return Unknown("type");
  return Device{.name = message.name(),
                .type = message.type() == v1::DEVICE_TYPE_GPU ? DeviceType::kGpu : DeviceType::kCores,
                .slots = message.slot_count(),
                .memory_bytes = message.memory_bytes(),
                .host_cores = message.host_cores(),
                .compute = message.compute_thousandths() == 0 ? kWholeDevice : message.compute_thousandths()};
}

Result<void> TakeCapacities(const v1::Registration& message, Registration& registration) {
  ESPALIER_RETURN_IF_ERROR(Append(message.devices(), "devices", &FromProto, registration.devices));
  ESPALIER_RETURN_IF_ERROR(CheckDevices(registration.devices));
  if (message.host_cores() < 0 || message.host_cores() > kHostCoresMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 0 to " + std::to_string(kHostCoresMax), "host_cores");
  }
  if (message.host_memory_bytes() < 0 || message.host_memory_bytes() > kMemoryBytesMax) {
    return MakeError(ErrorCode::kInvalidArgument, "expected 0 to " + std::to_string(kMemoryBytesMax),
                     "host_memory_bytes");
  }
  registration.host_cores = message.host_cores();
  registration.host_memory_bytes = message.host_memory_bytes();
  registration.version = ForPeople(message.version());
  return {};
}

}  // namespace

v1::Device ToProto(const Device& device) {
  v1::Device message;
  message.set_name(device.name);
  message.set_type(ToProto(device.type));
  message.set_slot_count(device.slots);
  message.set_memory_bytes(device.memory_bytes);
  message.set_host_cores(device.host_cores);
  message.set_compute_thousandths(device.compute);
  return message;
}

v1::Registration ToProto(const Registration& registration) {
  v1::Registration message;
  message.set_server(registration.server);
  message.set_incarnation(registration.incarnation);
  for (const Device& device : registration.devices) *message.add_devices() = ToProto(device);
  message.set_host_cores(registration.host_cores);
  message.set_host_memory_bytes(registration.host_memory_bytes);
  message.set_version(registration.version);
  message.set_draining(registration.draining);
  message.set_trouble(ForPeople(registration.trouble));
  for (const ServerOffer& offered : registration.offers) *message.add_offers() = ToProto(offered);
  for (const DescribedReference& each : registration.references) *message.add_references() = ToProto(each);
  for (const CheckedTrainer& each : registration.checked) *message.add_checked() = ToProto(each);
  return message;
}

Result<Registration> FromProto(const v1::Registration& message) {
  if (message.server().empty()) return Missing("server");
  if (message.incarnation().empty()) return Missing("incarnation");
  Registration registration{.server = message.server(),
                            .incarnation = message.incarnation(),
                            .devices = {},
                            .offers = {},
                            .draining = message.draining(),
                            .trouble = message.trouble()};
  ESPALIER_RETURN_IF_ERROR(TakeCapacities(message, registration));
  ESPALIER_RETURN_IF_ERROR(Append(message.offers(), "offers", &FromProto, registration.offers));
  ESPALIER_RETURN_IF_ERROR(Append(message.references(), "references", &FromProto, registration.references));
  ESPALIER_RETURN_IF_ERROR(Append(message.checked(), "checked", &FromProto, registration.checked));
  return registration;
}

v1::SynchronizeResponse ToProto(const ServerOrders& orders) {
  v1::SynchronizeResponse message;
  for (const Order& order : orders.orders) Set(order, *message.add_orders());
  message.set_acknowledged_report(orders.acknowledged_report);
  message.set_refused(orders.refused);
  for (const std::string& file : orders.superseded_files) message.add_superseded_files(file);
  for (const WantedReference& wanted : orders.references) {
    v1::WantedReference& part = *message.add_references();
    part.set_reference_digest(ToHex(wanted.reference));
    part.set_asked(wanted.asked);
  }
  message.set_draining(orders.draining);
  for (const WantedCheck& wanted : orders.checks) *message.add_checks() = ToProto(wanted);
  return message;
}

Result<ServerOrders> FromProto(const v1::SynchronizeResponse& message) {
  ServerOrders orders;
  ESPALIER_RETURN_IF_ERROR(Append(message.orders(), "orders", &FromProto, orders.orders));
  orders.acknowledged_report = message.acknowledged_report();
  orders.superseded_files.assign(message.superseded_files().begin(), message.superseded_files().end());
  ESPALIER_RETURN_IF_ERROR(Append(message.references(), "references", &FromProto, orders.references));
  orders.draining = message.draining();
  orders.refused = message.refused();
  ESPALIER_RETURN_IF_ERROR(Append(message.checks(), "checks", &FromProto, orders.checks));
  return orders;
}

}  // namespace espalier
