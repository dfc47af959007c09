#include "client/tuners/successive_halving.h"

#include "client/tuners/halving_bracket.h"

namespace espalier::tuners {
namespace {

class SuccessiveHalving : public Tuner {
 public:
  explicit SuccessiveHalving(Ladder ladder) : bracket_(std::move(ladder), 0) {}

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

Result<std::unique_ptr<Tuner>> MakeSuccessiveHalving(const Options& options, std::vector<Candidate> candidates) {
  ESPALIER_ASSIGN(Ladder ladder, Ladder::From(options, std::move(candidates)));
  return std::make_unique<SuccessiveHalving>(std::move(ladder));
}

}  // namespace

TunerKind SuccessiveHalvingKind() {
  return {.name = "sha", .version = 1, .option_names = {"min", "max", "reduction"}, .make = MakeSuccessiveHalving};
}

}  // namespace espalier::tuners
