#include "scheduler/policy.h"

#include <array>
#include <string>

#include "scheduler/even_end.h"

namespace espalier {
namespace {

class StartBestFirst : public Policy {
 public:
  StartBestFirst(std::string_view name, Ranking ranking, bool one_stage)
      : name_(name), ranking_(ranking), one_stage_(one_stage) {}

  std::string_view name() const override { return name_; }
  Ranking ranking() const override { return ranking_; }
  std::optional<Action> Decide(const View& view, Time) override {
    std::optional<StartPath> start = view.BestStart();
    if (start) start->one_stage = one_stage_;
    return start;
  }

 private:
  const std::string name_;
  const Ranking ranking_;
  const bool one_stage_;
};

constexpr std::string_view kUnbatched = "_unbatched";

constexpr std::array<std::pair<std::string_view, Ranking>, 4> kRankings{{
    {"critical_path", Ranking::kLongest},
    {"breadth_first", Ranking::kBreadthFirst},
    {"throughput", Ranking::kMostBelow},
    {"throughput_children", Ranking::kMostChildren},
}};

}  // namespace

Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name) {
  const bool one_stage = name.ends_with(kUnbatched);
  const std::string_view order = name.substr(0, name.size() - (one_stage ? kUnbatched.size() : 0));
  if (name == EvenEnd().name()) return std::make_unique<EvenEnd>();
  std::string names(EvenEnd().name());
  for (const auto& [known, ranking] : kRankings) {
    if (known == order) return std::make_unique<StartBestFirst>(name, ranking, one_stage);
    names += ", " + std::string(known);
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "no policy '" + std::string(name) + "'; expected one of " + names +
                       ", of which all but the first also with " + std::string(kUnbatched) + " behind it",
                   "policy");
}

}  // namespace espalier
