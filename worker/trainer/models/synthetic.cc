#include "worker/trainer/models/synthetic.h"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/digest.h"

namespace espalier::trainer {
namespace {

constexpr double kStepSecondsMax = 1e6;

const std::string kDigestName = "synthetic.digest";
const std::string kLevelName = "synthetic.level";
const std::string kFillerName = "synthetic.filler";

template <class Number>
std::string BytesOf(Number number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

// Different values, also of different types, give different bytes.
std::string BytesOf(const HyperParameterValue& value) {
  const auto write = []<class T>(const T& plain) {
    if constexpr (std::is_same_v<T, std::string>) return BytesOf(plain.size()) + plain;
    if constexpr (!std::is_same_v<T, std::string>) return BytesOf(plain);
  };
  return static_cast<char>(value.index()) + std::visit(write, value);
}

bool IsNeutral(const HyperParameterValue& value) {
  const auto is_neutral = []<class T>(const T& plain) { return plain == T{}; };
  return std::visit(is_neutral, value);
}

std::string BytesOf(const Digest128& digest) { return {digest.bytes.begin(), digest.bytes.end()}; }

// From 0 to 1, 1 not included.
double Share(const Digest128& digest) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, digest.bytes.data(), sizeof(bits));
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

const std::string& BytesAt(const State& state, const std::string& name, std::size_t size) {
  const std::string& bytes = At(state, name).bytes;
  if (bytes.size() != size) throw std::runtime_error("'" + name + "' in the state is of another length");
  return bytes;
}

class SyntheticTraining : public Trainer {
 public:
  void Init(const HyperParameterValues& values) override {
    state_bytes_ = std::get<std::int64_t>(values.at("state_bytes"));
    if (state_bytes_ < 0) throw std::invalid_argument("state_bytes: expected a whole number of at least 0");
  }

  void Setup(const HyperParameterValues& changed_values) override {
    for (const auto& [name, value] : changed_values) {
      if (double* setting = SettingOf(name)) {
        *setting = std::get<double>(value);
      } else if (IsNeutral(value)) {
        others_.erase(name);
      } else {
        others_[name] = value;
      }
    }
    if (!(step_seconds_ >= 0 && step_seconds_ <= kStepSecondsMax)) {
      throw std::invalid_argument("step_seconds: expected 0 to 1000000");
    }
  }

  Metrics Train() override {
    std::this_thread::sleep_for(std::chrono::duration<double>(step_seconds_));
    std::string values;
    for (const auto& [name, value] : others_) values += BytesOf(name.size()) + name + BytesOf(value);
    const double goal = curve_limit_ * (0.5 + 0.5 * Share(DigestOf(values)));
    level_ += curve_rate_ * (goal - level_);
    digest_ = DigestOf(BytesOf(digest_) + BytesOf(level_) + values);
    return {{"loss", 1 - level_}, {"samples", 1}};
  }

  Metrics Evaluate() override {
    const double measured = level_ + curve_noise_ * (Share(digest_) - 0.5);
    return {{"test_acc", measured}, {"test_loss", 1 - measured}};
  }

  State Save() override {
    std::string filler(static_cast<std::size_t>(state_bytes_), '\0');
    for (std::size_t i = 0; i < filler.size(); ++i) {
      filler[i] = static_cast<char>(digest_.bytes[i % digest_.bytes.size()]);
    }
    State state;
    state[kDigestName] = Text(BytesOf(digest_));
    state[kLevelName] = {.type = "F64", .shape = {}, .bytes = BytesOf(level_)};
    state[kFillerName] = Text(filler);
    return state;
  }

  void Load(const State& state) override {
    const std::string& digest = BytesAt(state, kDigestName, digest_.bytes.size());
    std::memcpy(digest_.bytes.data(), digest.data(), digest.size());
    std::memcpy(&level_, BytesAt(state, kLevelName, sizeof(level_)).data(), sizeof(level_));
    BytesAt(state, kFillerName, static_cast<std::size_t>(state_bytes_));
  }

 private:
  // Null for hyper-parameters that nobody declared.
  double* SettingOf(const std::string& name) {
    if (name == "step_seconds") return &step_seconds_;
    if (name == "curve_limit") return &curve_limit_;
    if (name == "curve_noise") return &curve_noise_;
    return name == "curve_rate" ? &curve_rate_ : nullptr;
  }

  std::int64_t state_bytes_ = 0;
  double step_seconds_ = 0;
  double curve_limit_ = 1;
  double curve_noise_ = 0;
  double curve_rate_ = 0;
  HyperParameterValues others_;  // but for those that are neutral
  Digest128 digest_;             // of all values so far, step by step
  double level_ = 0;             // what test_acc is without noise
};

}  // namespace

TrainerKind Synthetic() {
  return {.name = "synthetic",
          .code_digest = "synthetic-1",
          .data = "",
          .data_digest = "none",
          .evaluation_digest = "synthetic-1",
          .hyper_parameters = {{.name = "curve_limit", .default_value = 1.0},
                               {.name = "curve_noise", .default_value = 0.0},
                               {.name = "curve_rate", .default_value = 0.05},
                               {.name = "state_bytes", .default_value = std::int64_t{1024}, .initial = true},
                               {.name = "step_seconds", .default_value = 0.0}},
          .metrics = {"test_acc", "test_loss"},
          .takes_any = true,
          .reloads = true,
          .make = [](StepMeaning) { return std::make_unique<SyntheticTraining>(); }};
}

}  // namespace espalier::trainer
