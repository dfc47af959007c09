#include "scheduler/policy.h"

#include <array>
#include <string>

namespace espalier {
namespace {

class StartBestFirst : public Policy {
 public:
  constexpr StartBestFirst(std::string_view name, Ranking ranking) : name_(name), ranking_(ranking) {}

  std::string_view name() const override { return name_; }
  Ranking ranking() const override { return ranking_; }
  std::optional<Action> Decide(const View& view, Time) override { return view.BestStart(); }

 private:
  std::string_view name_;
  Ranking ranking_;
};

constexpr std::array<std::pair<std::string_view, Ranking>, 3> kRankings{{
    {"critical_path", Ranking::kLongest},
    {"breadth_first", Ranking::kBreadthFirst},
    {"throughput", Ranking::kMostBelow},
}};

}  // namespace

Result<std::unique_ptr<Policy>> MakePolicy(std::string_view name) {
  std::string names;
  for (const auto& [known, ranking] : kRankings) {
    if (known == name) return std::make_unique<StartBestFirst>(known, ranking);
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  return MakeError(ErrorCode::kInvalidArgument, "no policy '" + std::string(name) + "'; expected one of " + names,
                   "policy");
}

}  // namespace espalier
