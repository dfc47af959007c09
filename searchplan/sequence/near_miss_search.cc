#include "searchplan/sequence/near_miss_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace espalier {
namespace {

using Members = std::vector<std::size_t>;  // indices of sequences

// Where segment `index` ends, or the horizon.
Step EndOf(const Sequence& sequence, std::size_t index) {
  return index + 1 < sequence.segments.size() ? sequence.segments[index + 1].start : sequence.horizon;
}

class Search {
 public:
  explicit Search(const std::vector<Sequence>& sequences) : sequences_(sequences) {}

  std::vector<NearPair> Run() {
    Group all{.segment = 0, .members = {}};
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (sequences_[i].type == ValueType::kFloating) all.members.push_back(i);
    }
    std::vector<Group> open{std::move(all)};
    while (!open.empty()) {
      const Group group = std::move(open.back());
      open.pop_back();
      Split(group, open);
    }
    std::sort(found_.begin(), found_.end(),
              [](const NearPair& x, const NearPair& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
    return std::move(found_);
  }

 private:
  // Sequences that are equal before segment `segment`.
  struct Group {
    std::size_t segment = 0;
    Members members;
  };
  // One of the sequences that part at a step, and the end of its function there.
  struct Way {
    std::size_t sequence = 0;
    Step end;
    double value = 0;  // at the step looked at last
  };

  // Compares those that part at this segment, one for each way on, and leaves the ways that several take to be looked
  // at further on.
  void Split(const Group& group, std::vector<Group>& open) {
    std::map<Step, std::map<std::string, Members>> ways;  // by the start and the function that come next
    for (const std::size_t member : group.members) {
      const std::vector<Segment>& segments = sequences_[member].segments;
      if (group.segment >= segments.size()) continue;
      const Segment& next = segments[group.segment];
      ways[next.start][CanonicalBytes(next.function)].push_back(member);
    }
    const Way longest = LongestBefore(group);
    for (auto& [start, by_function] : ways) {
      std::vector<Way> parting;
      for (auto& [function, members] : by_function) {
        parting.push_back({.sequence = members.front(), .end = EndOf(sequences_[members.front()], group.segment)});
        if (members.size() > 1) open.push_back({.segment = group.segment + 1, .members = std::move(members)});
      }
      if (longest.end > start) parting.push_back(longest);
      Compare(start, std::move(parting));
    }
  }

  // The one that stays longest under the function before the segment; ends at 0 if there is none.
  Way LongestBefore(const Group& group) const {
    Way longest;
    if (group.segment == 0) return longest;
    for (const std::size_t member : group.members) {
      const Step end = EndOf(sequences_[member], group.segment - 1);
      if (end > longest.end) longest = {.sequence = member, .end = end};
    }
    return longest;
  }

  // Looks at more and more distant steps, each time only at those that were near so far.
  void Compare(Step start, std::vector<Way> parting) {
    std::vector<std::vector<Way>> clusters;
    clusters.push_back(std::move(parting));
    for (std::int64_t distance = 0; !clusters.empty(); distance = distance == 0 ? 1 : 2 * distance) {
      std::vector<std::vector<Way>> nearer;
      for (std::vector<Way>& cluster : clusters) {
        CompareEnded(cluster, start + distance);
        if (cluster.size() > 1) SplitByValue(std::move(cluster), start + distance, nearer);
      }
      clusters = std::move(nearer);
    }
  }

  // Removes what ends before `step`, once it was compared with its neighbours.
  void CompareEnded(std::vector<Way>& cluster, Step step) {
    for (std::size_t i = 0; i + 1 < cluster.size(); ++i) {
      if (cluster[i].end > step && cluster[i + 1].end > step) continue;
      const auto [a, b] = std::minmax(cluster[i].sequence, cluster[i + 1].sequence);
      if (const auto near_miss = FindNearMiss(sequences_[a], sequences_[b])) found_.push_back({a, b, *near_miss});
    }
    std::erase_if(cluster, [step](const Way& way) { return way.end <= step; });
  }

  void SplitByValue(std::vector<Way> cluster, Step step, std::vector<std::vector<Way>>& clusters) const {
    for (Way& way : cluster) way.value = std::get<double>(At(sequences_[way.sequence], step));
    std::sort(cluster.begin(), cluster.end(), [](const Way& x, const Way& y) {
      return std::pair(x.value, x.sequence) < std::pair(y.value, y.sequence);
    });
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= cluster.size(); ++i) {
      if (i < cluster.size() && AreNear(cluster[i - 1].value, cluster[i].value)) continue;
      if (i - begin > 1) clusters.emplace_back(cluster.begin() + begin, cluster.begin() + i);
      begin = i;
    }
  }

  static bool AreNear(double a, double b) {
    return std::abs(a - b) <= kRoundingDifferenceMax * std::max(std::abs(a), std::abs(b));
  }

  const std::vector<Sequence>& sequences_;
  std::vector<NearPair> found_;
};

}  // namespace

std::vector<NearPair> FindNearMisses(const std::vector<Sequence>& sequences) { return Search(sequences).Run(); }

}  // namespace espalier
