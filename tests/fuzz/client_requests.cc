// What a client, or whoever has a token, asks of a master: the first byte says which call it is, the others are its
// request. It is taken as the services take it, and answered by the real core with a small study in it.
#include "espalier/v1/forecast.pb.h"
#include "espalier/v1/inspect.pb.h"
#include "espalier/v1/study.pb.h"
#include "master/core/chosen_policy.h"
#include "master/core/reactor.h"
#include "master/rpc/batch_size.h"
#include "master/rpc/convert.h"
#include "master/rpc/reading.h"
#include "proto/unknown_parts.h"
#include "tests/fuzz/fuzz.h"

namespace espalier::master {
namespace {

const Caller kAnn{.user = "ann", .team = "team"};
const Offer kOffer{.trainer = "toy",
                   .code_digest = "1",
                   .data_digest = "none",
                   .evaluation_digest = "1",
                   .schema = {.hyper_parameters = {{"bs", ValueType::kInteger, Value{std::int64_t{32}}, false},
                                                   {"lr", ValueType::kFloating, Value{0.1}, false}}},
                   .metrics = {"score"}};

class World {
 public:
  // Of one server, with a study of two trials that trains.
  World() {
    Handle(NodeMessage{.session = SessionId{1},
                       .registration = Registration{.server = "server",
                                                    .incarnation = "1",
                                                    .devices = {{.name = "cores-0", .slots = 2}},
                                                    .offers = {{kOffer, "toy"}}}});
    const StudySpecification study{.name = "study", .trainer = "toy", .metric = "score"};
    Ask("create", CreateStudy{study});
    const std::vector<NewTrial> trials{{{{"lr", "MultiStep(0.1, [10], 0.1)"}}, Step{20}, Step{40}},
                                       {{{"lr", "0.1"}}, Step{20}, Step{0}}};
    Ask("submit", SubmitBatch{.study = StudyId{1}, .new_trials = trials});
    ESPALIER_CHECK(state_.runs.size() == 2 || state_.runs.size() == 1) << state_.runs.size() << " runs";
  }

  // Every call has one answer.
  void Ask(const std::string& request_id, decltype(ClientCall::what) what) {
    const Transition transition =
        Handle(ClientCall{.call = CallId{1}, .caller = kAnn, .request_id = request_id, .what = std::move(what)});
    const auto answers = std::ranges::count_if(
        transition.effects, [](const Effect& effect) { return std::holds_alternative<Reply>(effect); });
    ESPALIER_CHECK(answers == 1) << answers << " answers";
  }

  const MasterState& state() const { return state_; }

 private:
  Transition Handle(const Event& event) {
    return React(state_, event, ChosenPolicy().For(state_, event), ReactorSettings{}, Time{std::chrono::hours(1)});
  }

  MasterState state_;
};

const World& Began() {
  static const World world;
  return world;
}

// What the service does with a request of this call; of one that it refuses, nothing.
void Take(const v1::CreateStudyRequest& request) {
  if (auto specification = FromProto(request.study())) {
    World(Began()).Ask(request.request_id(), CreateStudy{*std::move(specification)});
  }
}
void Take(const v1::SubmitRequest& request) {
  SubmitBatch batch = FromProto(request);
  if (CheckBatchSize(batch).has_value()) World(Began()).Ask(request.request_id(), std::move(batch));
}
void Take(const v1::ContinueTrialRequest& request) { World(Began()).Ask(request.request_id(), FromProto(request)); }
void Take(const v1::RetryStageRequest& request) {
  World(Began()).Ask(request.request_id(), RetryStage{{PlanNodeId{request.plan_node_id()}, Step{request.step()}}});
}
void Take(const v1::PinStudyRequest& request) {
  if (const auto keep = FromProto(request.keep())) {
    World(Began()).Ask(request.request_id(), PinStudy{StudyId{request.study_id()}, *keep});
  }
}
void Take(const v1::WeighStudyRequest& request) {
  World(Began()).Ask(request.request_id(), WeighStudy{StudyId{request.study_id()}, request.weight()});
}
void Take(const v1::DescribeTrainerRequest& request) {
  World(Began()).Ask(request.request_id(), DescribeTrainer{FromProto(request.reference())});
}
void Take(const v1::ListStudiesRequest& request) {
  StudyQuery query = FromProto(request);
  query.count_max = PageSize(request.page_size());
  const auto page = ListStudies(Began().state(), query, kAnn, Time{});
  ESPALIER_CHECK(!page.has_value() || page->studies.size() <= 1);
}
void Take(const v1::ListTrialsRequest& request) {
  TrialQuery query = FromProto(request, StudyId{1});
  query.count_max = PageSize(request.page_size());
  const auto page = ListTrials(Began().state(), query);
  ESPALIER_CHECK(!page.has_value() || page->trials.size() <= 2);
}
void Take(const v1::ForecastRequest& request) {
  std::vector<ForecastStudy> studies;
  for (const v1::ForecastStudy& part : request.studies()) {
    auto specification = FromProto(part.study());
    if (!specification.has_value()) return;
    studies.push_back({.specification = *std::move(specification), .trials = {}});
    for (const v1::NewTrial& trial : part.trials()) studies.back().trials.push_back(FromProto(trial));
  }
  const StateReader read = [](const std::function<void(const MasterState&)>& look) -> Result<void> {
    look(Began().state());
    return {};
  };
  if (const auto forecast = ForecastStudies(read, studies, kAnn.team)) ToProto(*forecast);
}

template <class Request>
void Try(std::string_view bytes) {
  Request request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) || FindUnknown(request)) return;
  Take(request);
}

constexpr void (*kCalls[])(std::string_view) = {
    Try<v1::CreateStudyRequest>,     Try<v1::SubmitRequest>,     Try<v1::ContinueTrialRequest>,
    Try<v1::RetryStageRequest>,      Try<v1::PinStudyRequest>,   Try<v1::WeighStudyRequest>,
    Try<v1::ListStudiesRequest>,     Try<v1::ListTrialsRequest>, Try<v1::ForecastRequest>,
    Try<v1::DescribeTrainerRequest>,
};

}  // namespace
}  // namespace espalier::master

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  if (size == 0) return 0;
  master::kCalls[data[0] % std::size(master::kCalls)](fuzz::TextOf(data + 1, size - 1));
  return 0;
}
