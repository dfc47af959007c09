// A user of the C++ client who makes a mistake, and prints what he is told: `espalier-wrong-use ADDRESS MISTAKE
// [TOKEN, or TRAINER]`.
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "client/client.h"
#include "client/study_port.h"

namespace espalier {
namespace {

constexpr Step kLong{1'000'000};

struct Wrong {
  std::string trainer = "mlp";
  TrialText trial = {{"lr", "0.1"}};
  RetryPolicy policy = {.first_connection_patience = Seconds{0.2}};
  std::string token = {};
};

Result<Study> Create(const std::string& address, const Wrong& wrong) {
  ESPALIER_ASSIGN(Client client, Client::Connect(address, wrong.policy, wrong.token));
  return client.CreateStudy({.name = "wrong in C++",
                             .trainer = wrong.trainer,
                             .data = "digits",
                             .step = {.updates = 20},
                             .metric = "test_acc",
                             .definition = R"({"study": "wrong in C++"})"});
}

Result<Evaluation> Evaluate(const std::string& address, const Wrong& wrong) {
  ESPALIER_ASSIGN(Study study, Create(address, wrong));
  Result<Evaluation> evaluation = study.Eval(wrong.trial, Step{3});
  (void)study.Cancel();
  return evaluation;
}

// `file`: where `espalier up` would have written the address.
Result<Evaluation> WithoutService(const std::string& file) {
  ESPALIER_ASSIGN(const std::string address, ReadServerAddress(file));
  return Evaluate(address, {});
}

Result<Evaluation> OfNoStudy(const std::string& address) {
  ESPALIER_ASSIGN(Client client, Client::Connect(address));
  return client.OpenStudy(StudyId{4711}).Eval({{"lr", "0.1"}}, Step{3});
}

Result<Evaluation> OfCancelledStudy(const std::string& address) {
  ESPALIER_ASSIGN(Study study, Create(address, {}));
  ESPALIER_RETURN_IF_ERROR(study.Cancel());
  return study.Eval({{"lr", "0.1"}}, Step{3});
}

Result<Evaluation> CancelledWhileWaiting(const std::string& address) {
  ESPALIER_ASSIGN(Study study, Create(address, {}));
  ESPALIER_ASSIGN(const std::vector<Future<Evaluation>> futures,
                  study.Submit({{{"lr", "0.1"}}}, {.steps = kLong, .horizon = kLong}));
  ESPALIER_RETURN_IF_ERROR(study.Cancel());
  return futures.front().Get();
}

// Whoever reads "waiting" stops the server.
Result<Evaluation> StoppedWhileWaiting(const std::string& address) {
  ESPALIER_ASSIGN(Study study, Create(address, {.policy = {.call_patience = Seconds{0.5}}}));
  ESPALIER_ASSIGN(const std::vector<Future<Evaluation>> futures,
                  study.Submit({{{"lr", "0.1"}}}, {.steps = kLong, .horizon = kLong}));
  std::cout << "waiting" << std::endl;
  return futures.front().Get();
}

using Mistake = std::function<Result<Evaluation>(const std::string& address, const std::string& token)>;

const std::map<std::string, Mistake>& Mistakes() {
  static const std::map<std::string, Mistake> mistakes = {
      {"nothing", [](const auto& address, const auto&) { return Evaluate(address, {}); }},
      {"sequence",
       [](const auto& address, const auto&) {
         return Evaluate(address, {.trial = {{"lr", "MultiStep(0.1, [60, 40], 0.1)"}}});
       }},
      {"hyper-parameter",
       [](const auto& address, const auto&) {
         return Evaluate(address, {.trial = {{"lrr", "0.1"}}});
       }},
      {"trainer", [](const auto& address, const auto&) { return Evaluate(address, {.trainer = "mlpp"}); }},
      {"own trainer", [](const auto& address, const auto& own) { return Evaluate(address, {.trainer = own}); }},
      {"token", [](const auto& address, const auto& token) { return Evaluate(address, {.token = token}); }},
      {"address", [](const auto& file, const auto&) { return WithoutService(file); }},
      {"study", [](const auto& address, const auto&) { return OfNoStudy(address); }},
      {"cancelled", [](const auto& address, const auto&) { return OfCancelledStudy(address); }},
      {"cancelled later", [](const auto& address, const auto&) { return CancelledWhileWaiting(address); }},
      {"stopped", [](const auto& address, const auto&) { return StoppedWhileWaiting(address); }}};
  return mistakes;
}

void Say(const Result<Evaluation>& told) {
  if (!told.has_value()) {
    const Error& error = told.error();
    std::cout << Name(error.code) << ": " << error.field << (error.field.empty() ? "" : ": ") << error.message << '\n';
  } else {
    std::cout << Name(told->state) << ": " << told->message << '\n';
  }
}

}  // namespace
}  // namespace espalier

int main(int argument_count, char** arguments) {
  if (argument_count < 3 || !espalier::Mistakes().contains(arguments[2])) {
    std::cerr << "usage: espalier-wrong-use ADDRESS MISTAKE [TOKEN]; see docs/errors.md\n";
    return 2;
  }
  espalier::Say(espalier::Mistakes().at(arguments[2])(arguments[1], argument_count > 3 ? arguments[3] : ""));
  return 0;
}
