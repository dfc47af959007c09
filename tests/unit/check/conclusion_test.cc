// What a check comes to, and how it is asked for.
#include <catch2/catch.hpp>

#include "worker/check/check.h"
#include "worker/check/serve.h"

namespace espalier::trainer_check {
namespace {

Report ReportOf(Finding finding) {
  Report report;
  report.course.values.resize(6);
  report.finding = std::move(finding);
  report.cause = "the optimizer";
  report.said = {"espalier: train() changes optimizer"};
  return report;
}

Finding Another() {
  return {.observed = Observed::kState,
          .step = Step{2},
          .differences = {{.name = "weight", .place = {}, .expected = "1", .found = "2"}},
          .message = {},
          .after = {Deed::kResume, Step{1}},
          .pass = "resumed"};
}

Finding FailureIn(const std::string& pass) {
  return {.observed = Observed::kFailure, .step = Step{2}, .differences = {}, .message = "no file", .pass = pass};
}

}  // namespace

TEST_CASE("a check without a finding has passed") {
  Report report;
  report.course.values.resize(6);
  CHECK(Conclude(report) == CheckFinding{CheckOutcome::kPassed});
}

TEST_CASE("a difference is a failure, and says what differs, what the workers said, and the usual cause") {
  const auto finding = Conclude(ReportOf(Another()));
  REQUIRE(finding.has_value());
  CHECK(finding->outcome == CheckOutcome::kFailed);
  CHECK(finding->message ==
        "another state at step 2, resumed at step 1 in a new process:\n"
        "  weight is 2, was 1\n"
        "said by the worker: espalier: train() changes optimizer\n"
        "usual cause: the optimizer\n");
}

TEST_CASE("training that fails however it is done says nothing of cutting it; where it was cut, that is a failure") {
  CHECK(Conclude(ReportOf(FailureIn(Straight(Step{6}).name)))->outcome == CheckOutcome::kGivenUp);
  CHECK(Conclude(ReportOf(FailureIn("resumed")))->outcome == CheckOutcome::kFailed);
}

TEST_CASE("a worker that dies, or has no memory, says nothing of its trainer") {
  Finding died = FailureIn("resumed");
  died.is_fault_of_trainer = false;
  CHECK_FALSE(Conclude(ReportOf(died)).has_value());
}

TEST_CASE("a check is asked for by a folder, an offer, a command and a socket") {
  const std::string offer = ToHex(DigestOf("offer"));
  const auto asked = ParseArguments({"/checks/7", offer, "python", "-m", "worker", "--fd", "3"});
  REQUIRE(asked.has_value());
  CHECK(asked->folder == "/checks/7");
  CHECK(asked->offer == DigestOf("offer"));
  CHECK(asked->command == std::vector<std::string>{"python", "-m", "worker"});
  CHECK(asked->fd == 3);
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"/checks/7", offer, "--fd", "3"},
                                                       {"/checks/7", "offer", "python", "--fd", "3"},
                                                       {"/checks/7", offer, "python", "--fd", "three"},
                                                       {"/checks/7", offer, "python", "--fd", "-1"}};
  for (const auto& arguments : wrong) CHECK_FALSE(ParseArguments(arguments).has_value());
}

}  // namespace espalier::trainer_check
