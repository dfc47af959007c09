#include "bench/space_of_functions.h"

#include <set>
#include <vector>

#include "sim/chance.h"

namespace espalier::bench {
namespace {

// A learning rate with its hundredth, where cycles begin, and its tenth, where warm-ups do.
struct Rate {
  const char* whole;
  const char* tenth;
  const char* hundredth;
};
const std::vector<Rate> kRates = {{"0.05", "0.005", "0.0005"}, {"0.1", "0.01", "0.001"}, {"0.2", "0.02", "0.002"}};

class Drawing {
 public:
  explicit Drawing(std::uint64_t seed) : chance_(seed) {}

  std::set<std::string> LearningRates() {
    std::vector<Rate> rates(static_cast<std::size_t>(chance_.Whole(1, 2)));
    for (Rate& rate : rates) rate = chance_.OneOf(kRates);
    return Several(6, 14, [&] { return LearningRate(chance_.OneOf(rates)); });
  }
  std::set<std::string> BatchSizes() {
    std::set<std::string> sizes = Several(1, 5, [&] { return Dropping("128", chance_.OneIn(3) ? "4" : "2"); });
    sizes.insert("128");
    return sizes;
  }
  std::set<std::string> Momenta() {
    std::set<std::string> momenta = Several(0, 1, [&] { return Dropping("0.9", "0.5"); });
    momenta.insert("0.9");
    return momenta;
  }
  std::set<std::string> WeightDecays() {
    return chance_.OneIn(2) ? std::set<std::string>{"0.0001"} : std::set<std::string>{"0.0001", "0.0005"};
  }

 private:
  // No two alike.
  template <class Draw>
  std::set<std::string> Several(std::int64_t least, std::int64_t most, const Draw& draw) {
    const std::int64_t count = chance_.Whole(least, most);
    std::set<std::string> drawn;
    while (std::ssize(drawn) < count) drawn.insert(draw());
    return drawn;
  }

  std::int64_t Milestone(std::int64_t least) { return 5 * chance_.Whole(least / 5, 22); }

  std::string Dropping(const std::string& from, const std::string& gamma) {
    return "MultiStep(" + from + ", [" + std::to_string(Milestone(40)) + "], gamma=" + gamma + ")";
  }

  std::string Falling(const std::string& from) {
    const std::int64_t first = Milestone(40);
    const std::string gamma = chance_.OneIn(2) ? "0.1" : "0.2";
    const std::string second = first < 110 ? ", " + std::to_string(Milestone(first + 5)) : "";
    return "MultiStep(" + from + ", [" + std::to_string(first) + second + "], gamma=" + gamma + ")";
  }

  std::string LearningRate(const Rate& rate) {
    const std::string whole = rate.whole;
    const std::string warmup = "Warmup(" + std::string(rate.tenth) + ", 5, ";
    switch (chance_.Whole(0, 5)) {
      case 0:
      case 1:
        return Falling(whole);
      case 2:
        return warmup + Falling(whole) + ")";
      case 3:
        return warmup + "Exponential(" + whole + ", 0.9" + std::to_string(chance_.Whole(3, 8)) + "))";
      case 4:
        return warmup + "Cosine(" + whole + ", 0, 115))";
      default: {
        const std::string up_and_down = std::to_string(10 * chance_.Whole(1, 4));
        return "CyclicLR(" + std::string(rate.hundredth) + ", " + whole + ", " + up_and_down + ", " + up_and_down + ")";
      }
    }
  }

  sim::Chance chance_;
};

std::string Listed(const std::string& name, const std::set<std::string>& values) {
  std::string text = "  " + name + ":\n";
  for (const std::string& value : values) text += "    - " + value + "\n";
  return text;
}

}  // namespace

std::string SpaceOfFunctions(std::uint64_t seed, const std::string& tuner) {
  Drawing drawing(seed);
  return "study: space-" + std::to_string(seed) + "\ntrainer: synthetic\nstep: epoch\nhyper_parameters:\n" +
         Listed("lr", drawing.LearningRates()) + Listed("bs", drawing.BatchSizes()) +
         Listed("momentum", drawing.Momenta()) + Listed("weight_decay", drawing.WeightDecays()) +
         "metric: {name: test_acc, goal: max}\ntuner: " + tuner + "\nshare: team\n";
}

}  // namespace espalier::bench
