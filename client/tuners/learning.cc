#include "client/tuners/learning.h"

namespace espalier::tuners {
namespace {

class Learning : public Tuner {
 public:
  Learning(std::unique_ptr<Tuner> tuner, std::unique_ptr<Sampler> sampler, std::size_t drawn_count)
      : tuner_(std::move(tuner)), sampler_(std::move(sampler)), drawn_count_(drawn_count) {}

  std::vector<Action> Start() override { return Drawn(tuner_->Start()); }

  std::vector<Action> OnEvent(const Event& event) override {
    const auto* settled = std::get_if<ClaimOutcome>(&event);
    if (settled != nullptr && settled->trial < drawn_count_) sampler_->Learn(*settled);
    return Drawn(tuner_->OnEvent(event));
  }

  bool AsksForIdleSlots() const override { return tuner_->AsksForIdleSlots(); }

  std::vector<StartTrial> WholeTrials() const override { return tuner_->WholeTrials(); }

  bool KnowsItsTrials() const override { return false; }

 private:
  std::vector<Action> Drawn(std::vector<Action> actions) {
    for (Action& action : actions) {
      auto* const start = std::get_if<StartTrial>(&action);
      if (start != nullptr && started_++ < drawn_count_) start->sequences = sampler_->Draw();
    }
    return actions;
  }

  std::unique_ptr<Tuner> tuner_;
  std::unique_ptr<Sampler> sampler_;
  std::size_t drawn_count_;
  std::size_t started_ = 0;
};

}  // namespace

std::unique_ptr<Tuner> MakeLearning(std::unique_ptr<Tuner> tuner, std::unique_ptr<Sampler> sampler,
                                    std::size_t drawn_count) {
  return std::make_unique<Learning>(std::move(tuner), std::move(sampler), drawn_count);
}

}  // namespace espalier::tuners
