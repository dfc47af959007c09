// One trial out of a search space, by numbers: where it stands in the unit cube of the space's dimensions. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/space/ranges.h"
#include "client/space/search_space.h"

namespace espalier {

class Drawing {
 public:
  // REQUIRES: ranges were checked.
  explicit Drawing(const SearchSpace& space);

  // One for each list of several, then one for each range in any of its items; list after list.
  const std::vector<Dimension>& dimensions() const { return dimensions_; }

  // Each list gives one of its items, each range a value; conditions are applied. Takes a number for each dimension.
  TrialText Draw(const NextNumber& next) const;

 private:
  // A list, whose items are parsed once.
  struct ParsedList {
    std::string name;
    std::vector<Expression> items;
  };

  std::vector<ParsedList> lists_;
  std::vector<Dimension> dimensions_;
  TrialText fixed_;
  std::vector<Condition> conditions_;
};

// A number in [0, 1), and 64 random bits: the same for the same three, on every machine.
double UnitNumber(std::int64_t seed, std::size_t trial, std::size_t number);
std::uint64_t RandomBits(std::int64_t seed, std::size_t trial, std::size_t number);

// Bits as a number in [0, 1).
double InUnitInterval(std::uint64_t bits);

}  // namespace espalier
