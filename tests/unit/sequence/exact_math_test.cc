#include "searchplan/sequence/exact_math.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace espalier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct CosineCase {
  std::int64_t numerator;
  std::int64_t denominator;
  double cosine;
};

struct PowerCase {
  double base;
  std::int64_t exponent;
  double power;
};

struct RatioCase {
  std::int64_t numerator;
  std::int64_t denominator;
  double exponent;
  double power;
};

struct TurnCase {
  std::int64_t numerator;
  std::int64_t denominator;
  double phase;
  double cosine;
};

struct BetweenCase {
  double x;
  double start;
  double end;
  double cosine;
};

}  // namespace

// The expected values were computed with 400 bits and rounded once.
TEST_CASE("cosines are the nearest doubles") {
  const std::vector<CosineCase> cases = {
      {0, 7, 0x1.0000000000000p+0},
      {1, 3, 0x1.0000000000000p-1},
      {1, 2, 0x0.0p+0},
      {1, 4, 0x1.6a09e667f3bcdp-1},
      {2, 7, 0x1.3f3a0e28bedd1p-1},
      {37, 75, 0x1.571ee01fe12b8p-6},
      {74, 75, -0x1.ff8d070fec51cp-1},
      {1, 9007199254740992, 0x1.0000000000000p+0},
      {4503599627370495, 9007199254740992, 0x1.921fb54442d18p-52},
      {9007199254740991, 9007199254740992, -0x1.0000000000000p+0},
      {123456789, 987654321, 0x1.d906bcfeec381p-1},
      {9999999, 10000000, -0x1.ffffffffffe44p-1},
  };
  for (const CosineCase& each : cases) {
    CAPTURE(each.numerator, each.denominator);
    CHECK(CosineOfPi(each.numerator, each.denominator) == each.cosine);
  }
}

TEST_CASE("whole powers are the nearest doubles, also among denormals and out of range") {
  const std::vector<PowerCase> cases = {
      {0x1.e666666666666p-1, 0, 0x1.0000000000000p+0},
      {0x1.e666666666666p-1, 1, 0x1.e666666666666p-1},
      {0x1.e666666666666p-1, 10, 0x1.328da5e9df383p-1},
      {0x1.999999999999ap-4, 2, 0x1.47ae147ae147cp-7},
      {0x1.999999999999ap-4, 3, 0x1.0624dd2f1a9fdp-10},
      {0x1.fff2e48e8a71ep-1, 100000, 0x1.7ca6de2fe7407p-15},
      {0x1.00068db8bac71p+0, 1000000, 0x1.330ab10a37aa5p+144},
      {0x1.0000000000000p+1, 1023, 0x1.0000000000000p+1023},
      {0x1.0000000000000p+1, 1024, kInfinity},
      {0x1.0000000000000p-1, 1074, 0x0.0000000000001p-1022},
      {0x1.0000000000000p-1, 1075, 0x0.0p+0},
      {0x1.6666666666666p-1, 2075, 0x0.000000000004dp-1022},
      {0x1.999999999999ap-4, 320, 0x0.00000000007e8p-1022},
      {0x1.999999999999ap-4, 323, 0x0.0000000000002p-1022},
      {0x1.999999999999ap-4, 324, 0x0.0p+0},
      {0x1.fffffffffffffp-1, 9007199254740992, 0x1.78b56362cef37p-2},
      {0x1.0000000000001p+0, 9007199254740992, 0x1.d8e64b8d4ddacp+2},
      {0x0.0000000000001p-1022, 1, 0x0.0000000000001p-1022},
      {0x0.0000000000001p-1022, 2, 0x0.0p+0},
      {0x1.fffffffffffffp+1023, 1, 0x1.fffffffffffffp+1023},
  };
  for (const PowerCase& each : cases) {
    CAPTURE(each.base, each.exponent);
    CHECK(WholePower(each.base, each.exponent) == each.power);
  }
}

// The expected values of the next three were computed with 2,400 bits and rounded once.
TEST_CASE("powers of ratios are the nearest doubles, ties to even, whole exponents or not") {
  const std::vector<RatioCase> cases = {
      {1, 4, 0x1.0000000000000p-1, 0x1.0000000000000p-1},
      {2, 3, 0x1.0000000000000p-1, 0x1.a20bd700c2c3ep-1},
      {2, 3, 0x1.ccccccccccccdp-1, 0x1.637526898d664p-1},
      {1, 3, 0x1.0000000000000p+1, 0x1.c71c71c71c71cp-4},
      {99, 100, 0x1.d99999999999ap+1, 0x1.ed4f6fa530893p-1},
      {1, 1000003, 0x1.554c985f06f69p-2, 0x1.47d4a2cd793f0p-7},
      {999999, 1000000, 0x1.e240800000000p+16, 0x1.c4894d6680c17p-1},
      {999999, 1000000, 0x1.dcd6500000000p+28, 0x1.924c277b4900ap-722},
      {9007199254740991, 9007199254740992, 0x1.c6bf526340000p+49, 0x1.ca32cbada6c6ap-1},
      {9007199254740991, 9007199254740992, 0x1.bc16d674ec800p+61, 0x1.3e668d9dc294dp-641},
      {1, 9007199254740992, 0x1.3e66666666666p+4, 0x0.000000009d962p-1022},
      {1, 9007199254740992, 0x1.4333333333333p+4, 0x0.000000000000bp-1022},
      {1, 2, 0x1.0c80000000000p+10, 0x0.0000000000001p-1022},
      {1, 2, 0x1.0c93333333333p+10, 0x0.0000000000001p-1022},
      {1, 2, 0x1.0ce0000000000p+10, 0x0.0p+0},
      {1, 3, 0x1.52e28f5c28f5cp+9, 0x0.0000000000001p-1022},
      {1, 9007199254740992, 0x1.56e1fc2f8f359p-997, 0x1.0000000000000p+0},
      {3, 7, 0x1.7e43c8800759cp+996, 0x0.0p+0},
      {50625, 68719476736, 0x1.8000000000000p+0, 0x1.5b9d420000000p-31},
      {68184176641, 68719476736, 0x1.8000000000000p+0, 0x1.fa077b01dfa00p-1},
      {7, 7, 0x1.999999999999ap-4, 0x1.0000000000000p+0},
      {1, 9007199254740992, 0x1.0000000000000p-1, 0x1.6a09e667f3bcdp-27},
      {123456789, 987654321, 0x1.4000000000000p+1, 0x1.6a09e5dd9429fp-8},
      {5, 6, 0x1.70ef54646d497p-57, 0x1.0000000000000p+0},
      {1, 3, 0x1.f400000000000p+9, 0x0.0p+0},
  };
  for (const RatioCase& each : cases) {
    CAPTURE(each.numerator, each.denominator, each.exponent);
    CHECK(PowerOfRatio(each.numerator, each.denominator, each.exponent) == each.power);
  }
}

TEST_CASE("cosines of turns are the nearest doubles, whatever the phase") {
  const std::vector<TurnCase> cases = {
      {0, 7, 0x0.0p+0, 0x1.0000000000000p+0},
      {1, 4, 0x0.0p+0, 0x0.0p+0},
      {1, 2, 0x0.0p+0, -0x1.0000000000000p+0},
      {3, 4, 0x0.0p+0, 0x0.0p+0},
      {1, 8, 0x0.0p+0, 0x1.6a09e667f3bcdp-1},
      {1, 3, 0x0.0p+0, -0x1.0000000000000p-1},
      {5, 7, 0x1.999999999999ap-4, -0x1.fc3a208092977p-4},
      {0, 1, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
      {0, 1, 0x1.921fb54442d18p+1, -0x1.0000000000000p+0},
      {0, 1, -0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
      {1, 4, 0x1.921fb54442d18p+0, -0x1.0000000000000p+0},
      {3, 8, 0x1.921fb54442d18p-1, -0x1.0000000000000p+0},
      {1, 9007199254740992, 0x0.0p+0, 0x1.0000000000000p+0},
      {9007199254740991, 9007199254740992, 0x0.0p+0, 0x1.0000000000000p+0},
      {123456, 1000003, 0x1.c6bf526340000p+49, -0x1.ef49cca94c388p-1},
      {17, 64, -0x1.86a0b33333333p+16, -0x1.12984d26155acp-1},
      {1, 3, 0x1.0000000000000p+53, 0x1.ffb78fee42276p-1},
      {2, 3, -0x1.0000000000000p+53, 0x1.ffb78fee42276p-1},
      {5, 11, 0x0.00000000007e8p-1022, -0x1.eb42a9bcd5057p-1},
      {1, 6, 0x1.9200000000000p+6, 0x1.0d9ae6cf1385cp-1},
      {1, 9, 0x1.6ac5b262ca1ffp+52, 0x1.fe79bdaefee91p-1},
      {9, 10, -0x1.8000000000000p+1, -0x1.c48a7ab6abf40p-1},
      {0, 1, 0x1.dd85a7410f58dp+4, 0x1.6156546afa570p-51},
      {0, 1, 0x1.3bbae55298768p+8, 0x1.edb9ff0d7e20bp-49},
      {0, 1, 0x1.ee235eaa856bap+14, -0x1.3b0022e86feb5p-41},
  };
  for (const TurnCase& each : cases) {
    CAPTURE(each.numerator, each.denominator, each.phase);
    CHECK(CosineOfTurn(each.numerator, each.denominator, each.phase) == each.cosine);
  }
}

TEST_CASE("cosines between places that are not whole are the nearest doubles") {
  const std::vector<BetweenCase> cases = {
      {0x0.0p+0, 0x0.0p+0, 0x1.d000000000000p+4, 0x1.0000000000000p+0},
      {0x1.d000000000000p+4, 0x0.0p+0, 0x1.d000000000000p+4, -0x1.0000000000000p+0},
      {0x1.d000000000000p+3, 0x0.0p+0, 0x1.d000000000000p+4, 0x0.0p+0},
      {0x1.0000000000000p+4, 0x1.f000000000000p+3, 0x1.b000000000000p+5, 0x1.ff92ebfacd73cp-1},
      {0x1.1800000000000p+5, 0x1.f000000000000p+3, 0x1.b000000000000p+5, -0x1.4e35aabede512p-6},
      {0x1.b000000000000p+5, 0x1.f000000000000p+3, 0x1.b000000000000p+5, -0x1.0000000000000p+0},
      {0x1.1600000000000p+5, 0x1.f000000000000p+3, 0x1.b000000000000p+5, 0x0.0p+0},
      {0x1.0000000000000p+0, 0x1.999999999999ap-4, 0x1.e666666666666p+0, -0x1.4f1a6c638d03fp-54},
      {0x1.0000000000000p+0, 0x1.3333333333333p-2, 0x1.0000000000000p+1, 0x1.183b1c61f0d00p-2},
      {0x1.86a0000000000p+16, 0x1.d4bc000000000p+14, 0x1.86a0800000000p+16, -0x1.fffffffdd65d0p-1},
      {0x1.81c8000000000p+13, 0x1.6666666666666p-1, 0x1.0000000000000p+53, 0x1.0000000000000p+0},
      {0x1.0000000000000p+52, 0x1.4cccccccccccdp+0, 0x1.0000000000000p+53, 0x1.05616905f83b7p-52},
  };
  for (const BetweenCase& each : cases) {
    CAPTURE(each.x, each.start, each.end);
    CHECK(CosineOfPiBetween(each.x, each.start, each.end) == each.cosine);
  }
  for (int x = 0; x <= 1001; ++x) CHECK(CosineOfPiBetween(x, 0, 1001) == CosineOfPi(x, 1001));
}

TEST_CASE("a half turn's cosines mirror each other exactly") {
  for (std::int64_t i = 0; i <= 1001; ++i) CHECK(CosineOfPi(i, 1001) == -CosineOfPi(1001 - i, 1001));
}

TEST_CASE("cosines and powers agree with the library's in long double") {
  for (std::int64_t i = 0; i <= 997; ++i) {
    const long double cosine = std::cos(3.14159265358979323846264338327950288L * i / 997);
    CHECK(std::abs(CosineOfPi(i, 997) - cosine) < 1e-16L);
    const long double power = std::pow(0.95L, static_cast<long double>(i));
    CHECK(std::abs(WholePower(0.95, i) - power) <= 1e-12L * power);
  }
}

}  // namespace espalier
