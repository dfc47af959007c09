#include "searchplan/sequence/early_parting.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "searchplan/sequence/primitive_traits.h"

namespace espalier {
namespace {

// What sequences have in common that part early.
struct Beginning {
  Step at;
  bool rises = false;
  Digest128 before;  // of all segments before
  double value = 0;  // at the step
  friend auto operator<=>(const Beginning&, const Beginning&) = default;
};

struct Parting {
  std::set<std::string> ways;  // the functions that are taken
  std::vector<std::size_t> sequences;
};

// Whether it rises or falls over the segment's steps; none: neither, or not all the way.
std::optional<bool> Rises(const Segment& segment, Step end) {
  const Function& function = segment.function;
  if (ConstantValue(function.primitive) || !IsMonotone(function.primitive)) return std::nullopt;
  const double first = std::get<double>(At(function, segment.start));
  const double last = std::get<double>(At(function, end - 1));
  if (first == last) return std::nullopt;
  return last > first;
}

}  // namespace

std::vector<EarlyParting> FindEarlyPartings(const std::vector<Sequence>& sequences) {
  std::map<Beginning, Parting> partings;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& sequence = sequences[i];
    if (sequence.type != ValueType::kFloating) continue;
    Digest128 before;
    for (std::size_t j = 0; j < sequence.segments.size(); ++j) {
      const Segment& segment = sequence.segments[j];
      if (segment.start.value * kEarlyParts > sequence.horizon.value) break;
      const Step end = j + 1 < sequence.segments.size() ? sequence.segments[j + 1].start : sequence.horizon;
      const std::string way = CanonicalBytes(segment.function);
      if (const std::optional<bool> rises = Rises(segment, end)) {
        const double value = std::get<double>(At(segment.function, segment.start));
        Parting& parting = partings[{segment.start, *rises, before, value}];
        parting.ways.insert(way);
        parting.sequences.push_back(i);
      }
      before = DigestOf(std::string(before.bytes.begin(), before.bytes.end()) + way);
    }
  }
  std::vector<EarlyParting> found;
  for (auto& [beginning, parting] : partings) {
    if (parting.ways.size() > 1) found.push_back({beginning.at, beginning.rises, std::move(parting.sequences)});
  }
  std::sort(found.begin(), found.end(), [](const EarlyParting& a, const EarlyParting& b) {
    return std::tie(a.at, a.sequences) < std::tie(b.at, b.sequences);
  });
  return found;
}

std::string Describe(const EarlyParting& parting) {
  const std::string part = "part at step " + std::to_string(parting.at.value) + ": ";
  if (parting.rises) {
    return part +
           "they rise at different rates; let all rise at one, a higher peak's warm-up taking so many more steps, and "
           "the lower ones' warm-ups are its beginning";
  }
  return part +
         "they fall in different ways; hold the value and fall at the end alone, as WSD does, and all share "
         "what is held, however long each is";
}

}  // namespace espalier
