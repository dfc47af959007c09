#include "worker/trainer/data/prefetch.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <future>
#include <random>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "tests/support/random_seed.h"
#include "tests/unit/trainer/data_folder.h"
#include "tests/unit/trainer/pieces.h"
#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/digits.h"
#include "worker/trainer/models/classifier.h"
#include "worker/trainer/models/mlp.h"

namespace espalier::trainer {
namespace {

using test::DataFolder;
// LibTorch's headers take CHECK away: here is REQUIRE alone.

using Draw = std::mt19937_64;

std::int64_t Below(Draw& draw, std::int64_t bound) {
  return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(bound));
}

// Data of which epochs are short, with values that its hyper-parameters may have.
struct Subject {
  DataSource source;
  HyperParameterValues (*values)(Draw& draw);
  std::int64_t size_max = 0;  // of batches
};

std::string LongText(std::int64_t size) {
  std::string text;
  for (std::int64_t i = 0; i < size; ++i) text += static_cast<char>('a' + i * i % 23);
  return text;
}

Subject Images() {
  return {Digits(),
          [](Draw& draw) -> HyperParameterValues {
            return {{"crop", Below(draw, 3)}, {"cutout", Below(draw, 3)}, {"flip", Below(draw, 2) == 1}};
          },
          500};
}

Subject Text(const DataFolder& folder) {
  folder.Write("train.txt", LongText(3000));
  folder.Write("second.txt", LongText(1000));
  folder.Write("test.txt", LongText(100));
  return {folder.Found(),
          [](Draw& draw) -> HyperParameterValues {
            return {{"length", 1 + Below(draw, 60)}, {"mix", static_cast<double>(Below(draw, 3)) / 2}};
          },
          20};
}

Subject Lines(const DataFolder& folder) {
  std::string lines;
  for (int i = 0; i < 50; ++i) lines += LongText(i) + "\n";
  folder.Write("train/long.txt", lines);
  folder.Write("train/short.txt", "a\nb\nc\n");
  folder.Write("test/long.txt", "a\n");
  return {folder.Found(), [](Draw& draw) -> HyperParameterValues { return {{"length", 2 + Below(draw, 30)}}; }, 20};
}

State PlaceOf(const Batches& batches) {
  State state;
  batches.Save("data.", state);
  return state;
}

void RequireSame(const Batch& batch, const Batch& other) {
  REQUIRE(at::equal(batch.inputs, other.inputs));
  REQUIRE(at::equal(batch.labels, other.labels));
}

// One seed and Batches of one training, by several depths at once, the first of which is 0.
class SideBySide {
 public:
  SideBySide(const Subject& subject, std::vector<std::size_t> depths) : subject_(subject), depths_(std::move(depths)) {
    for (const std::size_t depth : depths_) all_.push_back(Prefetched(subject_.source, depth).open(3));
  }

  void Setup(Draw& draw) {
    values_ = subject_.values(draw);
    for (const auto& batches : all_) batches->Setup(values_);
  }

  // Also what every training is given that has a learning rate.
  void SetupOfOthers() {
    for (const auto& batches : all_) batches->Setup({{"lr", 0.1}});
  }

  void Next(std::int64_t size) {
    const Batch batch = all_.front()->Next(size);
    for (std::size_t i = 1; i < all_.size(); ++i) RequireSame(all_[i]->Next(size), batch);
  }

  void Validate() {
    for (const auto& batches : all_) batches->Validate([](const Batch& batch) { REQUIRE(batch.labels.numel() > 0); });
  }

  // As in another process: each goes on where it is, or where all were before.
  void MoveTo(const State& state) {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      all_[i] = Prefetched(subject_.source, depths_[i]).open(3);
      all_[i]->Setup(values_);
      all_[i]->Load(state, "data.");
    }
  }
  void Reload(const State& state) {
    for (const auto& batches : all_) batches->Load(state, "data.");
  }

  State Place() const {
    State place = PlaceOf(*all_.front());
    for (const auto& batches : all_) {
      REQUIRE((PlaceOf(*batches) == place));
      REQUIRE(batches->epoch() == all_.front()->epoch());
    }
    return place;
  }

 private:
  const Subject subject_;
  const std::vector<std::size_t> depths_;
  HyperParameterValues values_;
  std::vector<std::unique_ptr<Batches>> all_;
};

void CompareDepths(const Subject& subject, Draw& draw) {
  SideBySide batches(subject, {0, 1, 2, 5});
  batches.Setup(draw);
  std::vector<State> places{batches.Place()};
  std::int64_t size = 1;
  for (int i = 0; i < 120; ++i) {
    switch (Below(draw, 12)) {
      case 0:
        batches.Setup(draw);
        break;
      case 1:
        batches.SetupOfOthers();
        break;
      case 2:
        size = 1 + Below(draw, subject.size_max);
        break;
      case 3:
        batches.Validate();
        break;
      case 4:
        places.push_back(batches.Place());
        batches.MoveTo(places.back());
        break;
      case 5:
        batches.Reload(places[static_cast<std::size_t>(Below(draw, static_cast<std::int64_t>(places.size())))]);
        break;
      default:
        batches.Next(size);
    }
    batches.Place();
  }
}

// Numbers from 0 on, in batches of them, one of which cannot be read.
class NumberBatches : public Batches {
 public:
  static constexpr std::int64_t kDamaged = 9;

  explicit NumberBatches(std::int64_t& fetched) : fetched_(fetched) {}

  Form form() const override { return {}; }
  void Setup(const HyperParameterValues&) override {}
  Batch Next(std::int64_t size) override {
    ++fetched_;
    if (place_ <= kDamaged && kDamaged < place_ + size) throw std::runtime_error("9.png: it cannot be decoded");
    place_ += size;
    return {at::tensor({place_ - size}), at::tensor({place_ - 1})};
  }
  std::int64_t epoch() const override { return place_ / 1000; }
  void Validate(const std::function<void(const Batch&)>&) const override {}
  void Save(const std::string& prefix, State& state) const override { state[prefix + "place"] = WholeNumber(place_); }
  void Load(const State& state, const std::string& prefix) override {
    place_ = ReadWholeNumber(state, prefix + "place");
  }

 private:
  std::int64_t& fetched_;
  std::int64_t place_ = 0;
};

// `fetched`: the batches that were, counted; to be read once the thread is gone.
std::unique_ptr<Batches> Numbers(std::size_t depth, std::int64_t& fetched) {
  DataSource source;
  source.open = [&fetched](std::uint64_t) { return std::make_unique<NumberBatches>(fetched); };
  return Prefetched(source, depth).open(1);
}

// While it lives, this process has memory for small things, but for no stack of another thread.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit tight{static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + (1 << 20)), before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
    try {
      // Stacks of threads that have ended are used again.
      for (;;) threads_.emplace_back([this] { may_end_.wait(); });
    } catch (const std::system_error&) {
    }
  }
  ~NoMoreThreads() {
    setrlimit(RLIMIT_AS, &before_);
    end_.set_value();
    for (std::thread& thread : threads_) thread.join();
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  rlimit before_{};
  std::promise<void> end_;
  std::shared_future<void> may_end_ = end_.get_future().share();
  std::vector<std::thread> threads_;
};

std::int64_t FirstOf(const Batch& batch) { return batch.inputs.item<std::int64_t>(); }

}  // namespace

TEST_CASE("batches and places are the same by every depth, whatever changes between them", "[torch]") {
  Draw draw(RandomSeed("prefetch"));
  const DataFolder text;
  const DataFolder lines;
  for (const Subject& subject : {Images(), Text(text), Lines(lines)}) {
    for (int round = 0; round < 5; ++round) CompareDepths(subject, draw);
  }
}

TEST_CASE("a training in pieces is the same, bit for bit, by every depth", "[torch]") {
  const test::Subject plain{Classifier(Mlp(), Digits()), test::kInitialValues};
  for (const test::Scenario& scenario : test::Scenarios()) {
    if (scenario.step.updates == 0) continue;  // they take longer
    INFO(scenario.name);
    const test::Trained straight = TrainStraight(plain, scenario);
    for (const std::size_t depth : {1, 4}) {
      const test::Subject ahead{Classifier(Mlp(), Prefetched(Digits(), depth)), test::kInitialValues};
      REQUIRE((TrainStraight(ahead, scenario) == straight));
      REQUIRE((TrainInPieces(ahead, scenario) == straight));
    }
  }
}

TEST_CASE("what cannot be fetched fails the batch that has it, in the same words, and no batch before", "[torch]") {
  for (const std::size_t depth : {0, 1, 2, 5}) {
    INFO(depth);
    std::int64_t fetched = 0;
    const auto batches = Numbers(depth, fetched);
    for (const std::int64_t first : {0, 3, 6}) REQUIRE(FirstOf(batches->Next(3)) == first);
    REQUIRE(ReadWholeNumber(PlaceOf(*batches), "data.place") == 9);
    REQUIRE_THROWS_WITH(batches->Next(3), "9.png: it cannot be decoded");
  }
}

TEST_CASE("a batch that cannot be fetched harms nobody who never comes there", "[torch]") {
  for (const std::size_t depth : {1, 2, 5}) {
    INFO(depth);
    std::int64_t fetched = 0;
    const auto batches = Numbers(depth, fetched);
    REQUIRE(FirstOf(batches->Next(4)) == 0);
    REQUIRE(FirstOf(batches->Next(4)) == 4);  // the next of this size has the damaged one
    REQUIRE(FirstOf(batches->Next(1)) == 8);
    batches->Load({{"data.place", WholeNumber(10)}}, "data.");
    REQUIRE(FirstOf(batches->Next(4)) == 10);
    REQUIRE(FirstOf(batches->Next(4)) == 14);
  }
}

TEST_CASE("what changes beside the data has no batch fetched again", "[torch]") {
  for (const std::size_t depth : {1, 2, 5}) {
    INFO(depth);
    std::int64_t fetched = 0;
    {
      const auto batches = Numbers(depth, fetched);
      batches->Load({{"data.place", WholeNumber(10)}}, "data.");
      for (int i = 0; i < 20; ++i) {
        batches->Setup({{"lr", 0.1}});
        batches->Next(4);
        batches->Validate([](const Batch&) {});
        PlaceOf(*batches);
      }
    }
    REQUIRE(fetched <= 20 + static_cast<std::int64_t>(depth));
  }
}

TEST_CASE("where the system has no thread left, batches are the same", "[torch]") {
  std::int64_t fetched = 0;
  const auto batches = Numbers(3, fetched);
  std::vector<std::int64_t> firsts;
  {
    const NoMoreThreads none;
    for (int i = 0; i < 3; ++i) firsts.push_back(FirstOf(batches->Next(2)));
  }
  REQUIRE(fetched == 3);  // none ahead
  firsts.push_back(FirstOf(batches->Next(2)));
  REQUIRE(firsts == std::vector<std::int64_t>{0, 2, 4, 6});
}

TEST_CASE("a value that the data cannot have is refused by every depth, naming the hyper-parameter", "[torch]") {
  const auto batches = Prefetched(Digits(), 2).open(1);
  batches->Next(32);
  REQUIRE_THROWS_WITH(batches->Setup({{"crop", std::int64_t{-1}}}), Catch::StartsWith("crop: expected"));
}

}  // namespace espalier::trainer
