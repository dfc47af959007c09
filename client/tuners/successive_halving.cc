#include "client/tuners/successive_halving.h"

namespace espalier::tuners {
namespace {

class OneBracket : public Tuner {
 public:
  explicit OneBracket(HalvingBracket bracket) : bracket_(std::move(bracket)) {}

  std::vector<Action> Start() override { return AndFinish(bracket_.Start()); }

  std::vector<Action> OnEvent(const Event& event) override {
    const auto* settled = std::get_if<ClaimOutcome>(&event);
    if (settled == nullptr || bracket_.finished()) return {};
    return AndFinish(bracket_.OnSettled(*settled));
  }

  std::vector<StartTrial> WholeTrials() const override { return bracket_.WholeTrials(); }

 private:
  std::vector<Action> AndFinish(std::vector<Action> actions) const {
    if (bracket_.finished()) actions.push_back(FinishStudy{});
    return actions;
  }

  HalvingBracket bracket_;
};

Result<std::unique_ptr<Tuner>> MakeSuccessiveHalving(const Options& options, Trials given) {
  ESPALIER_ASSIGN(Ladder ladder, Ladder::From(options, std::move(given.candidates)));
  const std::int64_t reduction = ladder.reduction();
  return MakeOneBracket(HalvingBracket(std::move(ladder), 0, KeptByReduction(reduction)));
}

}  // namespace

std::unique_ptr<Tuner> MakeOneBracket(HalvingBracket bracket) {
  return std::make_unique<OneBracket>(std::move(bracket));
}

TunerKind SuccessiveHalvingKind() {
  return {.name = "sha", .version = 1, .option_names = {"min", "max", "reduction"}, .make = MakeSuccessiveHalving};
}

}  // namespace espalier::tuners
