// Checkpoints within their byte budget.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "tests/support/server_by_hand.h"

namespace espalier::master {
namespace {

using Files = std::vector<std::string>;

// States take 100 bytes, as ServerByHand stores them.
struct Budget : ServerByHand {
  explicit Budget(Keep keep = Keep::kNone, int slots = 1) : ServerByHand(slots, {.name = "kept", .keep = keep}) {}

  void Limit(std::int64_t states) { reactor_settings.checkpoint_bytes = 100 * states; }

  // A trial of one segment, open up to step 100, trained to `step`; its state is stored in the file of that name.
  TrialId Trained(const std::string& lr, const std::string& file, std::int64_t step) {
    const TrialId trial = Submit(study, {{"lr", lr}}, step, 100);
    Work(file);
    return trial;
  }
  TrialId TrainedAndClosed(const std::string& lr, const std::string& file, std::int64_t step) {
    const TrialId trial = Submit(study, {{"lr", lr}}, step, 100);
    Call(SubmitBatch{.study = study, .close = {trial}});
    Work(file);
    return trial;
  }
  // The newest run does all that it owes: its end alone.
  void Work(const std::string& file) {
    const Run run = Last();
    const Point end{run.path.back().node, run.path.back().to};
    Measure(run, end);
    End(run, end.step, {end.step});
    Store(run, end, file);
    REQUIRE(RunOf(run.id).ended());
  }
  Files Stored() const {
    Files files;
    for (const auto& [id, node] : Plan().nodes) {
      for (const auto& [step, checkpoint] : node.results->checkpoints) files.push_back(checkpoint.file);
    }
    std::ranges::sort(files);
    return files;
  }
};

}  // namespace

TEST_CASE(
    "over their budget, of checkpoints that nobody needs the one goes that is trained again soonest, file and all") {
  Budget of;
  of.Limit(2);
  of.TrainedAndClosed("0.1", "long", 80);
  of.TrainedAndClosed("0.2", "short", 10);
  CHECK(of.Stored() == Files{"long", "short"});
  CHECK(of.servers[0].orders->superseded_files.empty());
  of.TrainedAndClosed("0.3", "longer", 90);
  CHECK(of.Stored() == Files{"long", "longer"});
  CHECK(of.servers[0].orders->superseded_files == Files{"short"});
}

TEST_CASE("an open trial's state goes last, but it goes, and what it is asked for is trained again") {
  Budget of;
  of.Limit(1);
  const TrialId open = of.Trained("0.1", "open", 40);
  of.TrainedAndClosed("0.2", "closed", 80);
  CHECK(of.Stored() == Files{"open"});
  of.Trained("0.3", "open too", 60);
  CHECK(of.Stored() == Files{"open too"});
  of.Claim(open, 80);
  CHECK(of.Last().training());
  CHECK_FALSE(of.Last().start.has_value());
  CHECK(of.Last().path.back().to == Step{80});
}

TEST_CASE("what a run has started from stays until the run has ended") {
  Budget of;
  const TrialId trial = of.Trained("0.1", "start", 10);
  of.Trained("0.2", "other", 80);
  of.Claim(trial, 90);
  REQUIRE(of.Last().start_file == "start");
  of.Limit(1);
  of.Stand(of.Last(), Step{60});
  CHECK(of.Stored() == Files{"start"});
  of.Work("end");
  CHECK(of.Stored() == Files{"end"});
}

TEST_CASE("what a waiting claim's training is to start from stays, be the store over its budget, which is said") {
  Budget of;
  const TrialId trial = of.Trained("0.1", "start", 10);
  of.Submit(of.study, {{"lr", "0.2"}}, 80, 100);  // has the slot
  const Run run = of.Last();
  of.Claim(trial, 90);
  REQUIRE(of.Last().id == run.id);
  of.Limit(1);
  of.Store(run, {run.path.front().node, Step{40}}, "on the way");
  CHECK(of.Stored() == Files{"on the way", "start"});
  const bool is_said = std::ranges::any_of(
      of.log, [](const std::string& line) { return line.find("more than their budget") != std::string::npos; });
  CHECK(is_said);
}

TEST_CASE("of what a run has stored on its way, the furthest stays as long as the run is under way") {
  Budget of;
  of.Limit(1);
  of.Submit(of.study, {{"lr", "0.1"}}, 80, 100);
  const Run run = of.Last();
  const PlanNodeId node = run.path.front().node;
  of.Train(run, Step{20});
  of.Store(run, {node, Step{20}}, "20");
  CHECK(of.Stored() == Files{"20"});
  of.Train(run, Step{40});
  of.Store(run, {node, Step{40}}, "40");
  CHECK(of.Stored() == Files{"40"});
  of.Restart();
  CHECK(of.Stored() == Files{"40"});
}

TEST_CASE("where the store has no room for a state, as much goes as would make room for it, without any budget") {
  Budget of;
  of.TrainedAndClosed("0.1", "long", 80);
  of.TrainedAndClosed("0.2", "short", 10);
  of.TrainedAndClosed("0.3", "middle", 40);
  of.Submit(of.study, {{"lr", "0.4"}}, 80, 100);
  const Run run = of.Last();
  of.Report(run, StoreFull{0});
  of.Report(run, StoreFull{-100});
  CHECK(of.Stored() == Files{"long", "middle", "short"});
  of.Report(run, StoreFull{100});
  CHECK(of.Stored() == Files{"long", "middle"});
  CHECK(of.servers[0].orders->superseded_files == Files{"short"});
  of.Report(run, StoreFull{101});  // it is still full
  CHECK(of.Stored().empty());
  const auto said = [&] {
    return std::ranges::any_of(of.log,
                               [](const std::string& line) { return line.find("store is full") != std::string::npos; });
  };
  CHECK_FALSE(said());
  of.Report(run, StoreFull{100});
  CHECK(said());
}

// Two slots, and files that nobody needs.
struct FullStore : Budget {
  explicit FullStore(int files) : Budget(Keep::kNone, 2) {
    for (int i = 10; i < 10 + files; ++i) TrainedAndClosed("0." + std::to_string(i), std::to_string(i), i);
    Submit(study, {{"lr", "0.8"}}, 80, 100);
    waiting = Last().id;
    Submit(study, {{"lr", "0.9"}}, 80, 100);
    other = Last().id;
  }
  // The run stores what is needed as long as it is under way.
  void StoreAt(RunId id, std::int64_t step) {
    const Run run = RunOf(id);
    Train(run, Step{step});
    Store(run, {run.path.front().node, Step{step}}, "needed " + std::to_string(id.value));
  }
  std::ptrdiff_t FilesLeft() const {
    return std::ranges::count_if(Stored(), [](const std::string& file) { return !file.starts_with("needed"); });
  }

  RunId waiting;
  RunId other;
};

TEST_CASE("a state that is as large as many files gets its room, over as many events as that takes") {
  FullStore of(30);
  of.Report(of.RunOf(of.waiting), StoreFull{2'000});
  CHECK(of.FilesLeft() > 10);
  for (int i = 0; i < 10; ++i) of.Handle(Tick{});
  CHECK(of.FilesLeft() == 10);
}

TEST_CASE("while a state waits for room, others that are stored do not take what was made for it") {
  FullStore of(10);
  of.StoreAt(of.other, 20);
  CHECK(of.FilesLeft() == 10);
  of.Report(of.RunOf(of.waiting), StoreFull{300});
  CHECK(of.FilesLeft() == 7);
  of.StoreAt(of.other, 40);  // in the room that "needed" of step 20 leaves: it is needed no more, and goes
  of.Handle(Tick{});
  CHECK(of.Stored().size() == 8);
  of.StoreAt(of.waiting, 20);  // has come into its room
  const auto left = of.FilesLeft();
  of.StoreAt(of.other, 60);
  of.Handle(Tick{});
  CHECK(of.FilesLeft() == left);
}

TEST_CASE("once the run whose state waits for room is over, nothing goes any more") {
  FullStore of(10);
  of.Report(of.RunOf(of.waiting), StoreFull{100'000});
  CHECK(of.FilesLeft() == 2);
  const Run run = of.RunOf(of.waiting);
  of.Crash(run, {run.path.front().node, Step{1}});
  REQUIRE(of.RunOf(of.waiting).ended());
  const auto left = of.FilesLeft();
  of.Report(run, StoreFull{100'000});  // said late
  for (int i = 0; i < 10; ++i) of.Handle(Tick{});
  CHECK(of.FilesLeft() == left);
}

TEST_CASE("a store without room loses nothing that is needed") {
  Budget of;
  const TrialId trial = of.Trained("0.1", "start", 10);
  of.Submit(of.study, {{"lr", "0.2"}}, 80, 100);  // has the slot
  of.Claim(trial, 90);
  of.Report(of.Last(), StoreFull{std::numeric_limits<std::int64_t>::max()});
  CHECK(of.Stored() == Files{"start"});
}

TEST_CASE("the state of the best result stays, as long as it is the best") {
  Budget of(Keep::kBest);
  of.Limit(1);
  const auto measured = [&](const std::string& file, double score) {
    of.Submit(of.study, {{"lr", "0." + file}}, 10, 100);
    const Run run = of.Last();
    const Point end{run.path.back().node, run.path.back().to};
    of.Measure(run, end, score);
    of.End(run, end.step, {end.step});
    of.Store(run, end, file);
  };
  measured("1", 0.5);
  measured("2", 0.4);
  CHECK(of.Stored() == Files{"1"});
  of.Restart();
  measured("3", 0.3);
  CHECK(of.Stored() == Files{"1"});
  measured("4", 0.6);
  CHECK(of.Stored() == Files{"4"});
}

TEST_CASE("where all final states stay, each trial's last one does, and no earlier one") {
  Budget of(Keep::kAll);
  of.Limit(1);
  of.TrainedAndClosed("0.1", "one", 10);
  const TrialId trial = of.Trained("0.2", "early", 10);
  CHECK(of.Stored() == Files{"early", "one"});
  of.Claim(trial, 90);
  of.Work("late");
  CHECK(of.Stored() == Files{"late", "one"});
  of.Restart();
  of.Trained("0.3", "other", 10);
  CHECK(of.Stored() == Files{"late", "one", "other"});
}

TEST_CASE("where all that was claimed stays, each claim's state does, and not what was saved between them") {
  Budget of(Keep::kClaimed);
  of.Limit(1);
  const TrialId trial = of.Trained("0.1", "early", 10);
  of.Claim(trial, 50);
  of.Store(of.Last(), {of.Last().path.back().node, Step{30}}, "between");
  of.Work("late");
  CHECK(of.Stored() == Files{"early", "late"});
  of.Restart();
  of.TrainedAndClosed("0.2", "other", 10);
  CHECK(of.Stored() == Files{"early", "late", "other"});
}

TEST_CASE("a study is pinned and let go of, also when it is finished, and over restarts") {
  Budget of;
  of.Limit(1);
  const TrialId trial = of.Trained("0.1", "early", 10);
  of.Claim(trial, 50);
  of.Call(PinStudy{of.study, Keep::kClaimed});
  CHECK(std::holds_alternative<StudyPinned>(of.last_reply.answer));
  of.Work("late");
  of.Call(SubmitBatch{.study = of.study, .finish = true});
  CHECK(of.state().studies.at(of.study).finished_at.has_value());
  CHECK(of.Stored() == Files{"early", "late"});
  of.Restart();
  of.Handle(Tick{});
  CHECK(of.Stored() == Files{"early", "late"});
  of.Call(PinStudy{of.study, Keep::kBest});
  of.Handle(Tick{});
  CHECK(of.Stored().size() == 1);
  of.Call(PinStudy{of.study, Keep::kNone});
  of.Call(PinStudy{of.study, Keep::kAll});
  CHECK(of.state().index.kept.size() == 1);
  of.Call(PinStudy{of.study, Keep::kNone});
  CHECK(of.state().index.kept.empty());
  CHECK(of.state().studies.at(of.study).specification.keep == Keep::kNone);  // as it was asked for
}

TEST_CASE("without a budget, and without a server that could remove a file, everything stays") {
  Budget of;
  of.Trained("0.1", "a", 10);
  of.Trained("0.2", "b", 10);
  CHECK(of.Stored() == Files{"a", "b"});
  of.LoseServers();
  of.Limit(1);
  of.Handle(Tick{});
  CHECK(of.Stored() == Files{"a", "b"});
}

}  // namespace espalier::master
