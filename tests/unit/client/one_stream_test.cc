// One stream brings a client the events of all its studies: what is shared, what is not, and when it is opened again.
#include <thread>

#include "tests/unit/client/learning_master.h"

namespace espalier {
namespace {

Future<Evaluation> AskFor(Study& study, const std::string& lr) {
  return study.Submit({{{"lr", lr}}}, {.steps = Step{1}, .horizon = Step{}}).value().at(0);
}

std::vector<Study> ManyStudies(Client& client, int count) {
  std::vector<Study> studies;
  for (int i = 0; i < count; ++i) studies.push_back(Create(client, "study " + std::to_string(i)));
  return studies;
}

double AccuracyOf(const Future<Evaluation>& future) { return future.Get().value().metrics.at("test_acc"); }

}  // namespace

TEST_CASE("a client reads all its studies from one stream, to which a new one is added") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  std::vector<Study> studies = ManyStudies(client, 20);
  std::vector<Future<Evaluation>> futures;
  for (Study& study : studies) {
    futures.push_back(AskFor(study, "0." + std::to_string(100 + futures.size())));
    while (master.Settle(0)) {
    }
    CHECK(AccuracyOf(futures.back()) == Approx(0.101 + 0.001 * (static_cast<double>(futures.size()) - 1)));
  }
  CHECK(master.studies_streams() == 1);
  CHECK(master.watches_begun() == 20);
}

TEST_CASE("a stream that breaks is opened again for all studies, each from its own next event") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  std::vector<Study> studies = ManyStudies(client, 5);
  std::map<std::int64_t, int> settled;
  std::mutex mutex;
  for (int round = 1; round <= 4; ++round) {
    std::vector<Future<Evaluation>> futures;
    for (Study& study : studies) {
      futures.push_back(AskFor(study, "0." + std::to_string(round)));
      futures.back().OnSettled([&, id = study.id().value](const Result<Evaluation>&) {
        const std::lock_guard lock(mutex);
        ++settled[id];
      });
    }
    master.Settle(static_cast<std::size_t>(round));
    master.BreakStreams();
    while (master.Settle(0)) {
    }
    for (const Future<Evaluation>& future : futures) CHECK(AccuracyOf(future) == Approx(0.1 * round + 0.001));
  }
  CHECK(master.studies_streams() >= 2);
  for (Study& study : studies) {
    CHECK(study.Finish().has_value());
    CHECK(study.WaitUntilFinished().value());
    CHECK(settled[study.id().value] == 4);
  }
}

TEST_CASE("whoever waits for a study of which the database was restored is told so, and nobody else") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  std::vector<Study> studies = ManyStudies(client, 2);
  const Future<Evaluation> lost = AskFor(studies[0], "0.5");
  const Future<Evaluation> other = AskFor(studies[1], "0.5");
  const Future<Evaluation> known = AskFor(studies[0], "0.6");
  master.Settle(1);                           // of the first study's claims the second
  CHECK(AccuracyOf(known) == Approx(0.601));  // so that some events have come
  master.HappenAgain(studies[0].id().value);
  master.BreakStreams();
  REQUIRE_FALSE(lost.Get().has_value());
  CHECK(lost.Get().error().code == ErrorCode::kFailedPrecondition);
  master.Settle(1);  // after the lost one
  CHECK(AccuracyOf(other) == Approx(0.501));
}

TEST_CASE("a study that is not there fails alone, and two handles of one study each learn all") {
  FakeMaster master(ByHand());
  Client client = Connect(master);
  Study study = Create(client);
  const Future<Evaluation> future = AskFor(study, "0.5");
  CHECK(client.OpenStudy(StudyId{4711}).WaitUntilFinished().error().code == ErrorCode::kNotFound);
  const Study again = client.OpenStudy(study.id());
  CHECK_FALSE(again.WaitUntilFinished(Seconds{0}).value());
  master.Settle(0);
  CHECK(AccuracyOf(future) == Approx(0.501));
  CHECK(study.Finish().has_value());
  CHECK(again.WaitUntilFinished().value());
  CHECK(study.WaitUntilFinished().value());
  CHECK(master.studies_streams() == 1);
}

TEST_CASE("where nothing is waited for no stream is open, and the next question opens one") {
  FakeMaster master(Options());
  Client client = Connect(master);
  for (int i = 1; i <= 3; ++i) {
    Study study = Create(client, "study " + std::to_string(i));
    CHECK(AskFor(study, "0.5").Get().has_value());
    CHECK(study.Finish().has_value());
    CHECK(study.WaitUntilFinished().value());
    CHECK(master.studies_streams() == i);
  }
}

TEST_CASE("a callback may let go of its study, of another, and of the client") {
  FakeMaster master(ByHand());
  std::optional<Client> client = Connect(master);
  auto mine = std::make_shared<std::optional<Study>>(Create(*client, "mine"));
  auto other = std::make_shared<std::optional<Study>>(Create(*client, "other"));
  const Future<Evaluation> waiting = AskFor(**other, "0.2");
  const Future<Evaluation> first = AskFor(**mine, "0.1");
  first.OnSettled([mine, other, kept = *client](const Result<Evaluation>&) {
    mine->reset();
    other->reset();
  });
  client.reset();
  master.Settle(0);
  CHECK(first.Get().has_value());
  CHECK(waiting.Get().error().code == ErrorCode::kAborted);
}

TEST_CASE("a stream that is given up says so to every study's futures, and a later question opens another") {
  FakeMaster master(ByHand());
  RetryPolicy hasty = kQuick;
  hasty.call_patience = Seconds{0.05};
  Client client = Client::Connect(master.address(), hasty).value();
  std::vector<Study> studies = ManyStudies(client, 2);
  const std::vector<Future<Evaluation>> futures = {AskFor(studies[0], "0.1"), AskFor(studies[1], "0.2")};
  master.Stop();
  for (const Future<Evaluation>& future : futures) CHECK(future.Get().error().code == ErrorCode::kUnavailable);
  master.Serve();
  Study again = client.OpenStudy(studies[0].id());
  while (master.Settle(0)) {
  }
  while (!again.Cancel().has_value()) std::this_thread::yield();  // until the connection is there again
  CHECK(again.WaitUntilFinished().value());
}

}  // namespace espalier
