#include "worker/trainer/data/augmentation.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/utils.h>

#include <catch2/catch.hpp>

namespace espalier::trainer {
namespace {

// LibTorch's headers take CHECK away: here is REQUIRE alone.

const SamplePlace kPlace{.seed = 7, .epoch = 3, .position = 100};

// The images are all alike, and no two of their pixels.
at::Tensor Images(std::int64_t count) {
  return at::arange(1, 2 * 5 * 6 + 1, at::TensorOptions(at::kFloat)).reshape({1, 2, 5, 6}).repeat({count, 1, 1, 1});
}

// Moved down and to the right by so much; what comes into view is 0.
at::Tensor Moved(const at::Tensor& image, std::int64_t down, std::int64_t right) {
  at::Tensor moved = at::zeros({2, 5, 6});
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 6; ++x) {
      const std::int64_t from_y = y - down;
      const std::int64_t from_x = x - right;
      if (from_y < 0 || from_y >= 5 || from_x < 0 || from_x >= 6) continue;
      for (std::int64_t c = 0; c < 2; ++c) moved[c][y][x] = image[c][from_y][from_x];
    }
  }
  return moved;
}

}  // namespace

TEST_CASE("without augmentation images stay as they are", "[torch]") {
  const at::Tensor images = Images(3);
  REQUIRE(at::equal(Augmented(images, {}, kPlace), images));
}

TEST_CASE("what is drawn for images leaves LibTorch's generator alone", "[torch]") {
  torch::manual_seed(1);
  const at::Tensor drawn = at::rand({1});
  torch::manual_seed(1);
  Augmented(Images(3), {.crop = 1, .flip = true, .cutout = 2}, kPlace);
  REQUIRE(at::equal(drawn, at::rand({1})));
}

TEST_CASE("how an image is changed follows from the seed, the epoch and its place, in batches of any size", "[torch]") {
  const Augmentation all{.crop = 2, .flip = true, .cutout = 2};
  const at::Tensor images = Images(60);
  const at::Tensor changed = Augmented(images, all, kPlace);
  for (const std::int64_t size : {1, 7}) {
    for (std::int64_t from = 0; from < 60; from += size) {
      const std::int64_t to = std::min<std::int64_t>(from + size, 60);
      const SamplePlace place{kPlace.seed, kPlace.epoch, kPlace.position + from};
      REQUIRE(at::equal(Augmented(images.slice(0, from, to), all, place), changed.slice(0, from, to)));
    }
  }
  // A seed, epoch or position further is another chance, not the same one elsewhere.
  for (const SamplePlace& other : {SamplePlace{8, 3, 100}, SamplePlace{7, 4, 100}, SamplePlace{7, 3, 160}}) {
    REQUIRE_FALSE(at::equal(Augmented(images, all, other), changed));
  }
}

TEST_CASE("what is switched on leaves the rest of an image's chance as it is", "[torch]") {
  const at::Tensor images = Images(60);
  const at::Tensor cropped = Augmented(images, {.crop = 1}, kPlace);
  const at::Tensor mirrored_too = Augmented(images, {.crop = 1, .flip = true}, kPlace);
  const at::Tensor cut_too = Augmented(images, {.crop = 1, .cutout = 2}, kPlace);
  for (std::int64_t i = 0; i < 60; ++i) {
    REQUIRE((at::equal(mirrored_too[i], cropped[i]) || at::equal(mirrored_too[i], cropped[i].flip({2}))));
    REQUIRE(at::equal(cut_too[i], at::where(cut_too[i].eq(0), cut_too[i], cropped[i])));
  }
}

TEST_CASE("an image that is moved further than it is wide shows nothing", "[torch]") {
  const at::Tensor images = Images(50);
  for (const std::int64_t crop : {std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    REQUIRE(Augmented(images, {.crop = crop, .flip = true}, kPlace).abs().max().item<float>() == 0);
  }
}

TEST_CASE("each way to crop comes up, and nothing else", "[torch]") {
  const at::Tensor images = Images(200);
  const at::Tensor cropped = Augmented(images, {.crop = 1}, kPlace);
  std::map<std::pair<int, int>, int> seen;
  for (std::int64_t i = 0; i < 200; ++i) {
    int matches = 0;
    for (int down = -1; down <= 1; ++down) {
      for (int right = -1; right <= 1; ++right) {
        if (!at::equal(cropped[i], Moved(images[i], down, right))) continue;
        ++seen[{down, right}];
        ++matches;
      }
    }
    REQUIRE(matches == 1);
  }
  REQUIRE(seen.size() == 9);
}

TEST_CASE("some images are mirrored left to right, and the others stay", "[torch]") {
  const at::Tensor images = Images(100);
  const at::Tensor flipped = Augmented(images, {.flip = true}, kPlace);
  int mirrored = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const bool is_mirrored = at::equal(flipped[i], images[i].flip({2}));
    REQUIRE((is_mirrored || at::equal(flipped[i], images[i])));
    mirrored += is_mirrored ? 1 : 0;
  }
  REQUIRE(mirrored > 30);
  REQUIRE(mirrored < 70);
}

TEST_CASE("a hole is square, in all channels, and ends at the border", "[torch]") {
  const at::Tensor images = at::ones({200, 3, 7, 7});
  const at::Tensor cut = Augmented(images, {.cutout = 3}, kPlace);
  REQUIRE(images.min().item<float>() == 1);  // what it was made from stays
  std::set<std::int64_t> sizes;
  for (std::int64_t i = 0; i < 200; ++i) {
    const at::Tensor hole = cut[i].eq(0);
    REQUIRE(at::equal(hole[0], hole[2]));
    const std::int64_t height = hole[0].any(1).sum().item<std::int64_t>();
    const std::int64_t width = hole[0].any(0).sum().item<std::int64_t>();
    REQUIRE(hole[0].sum().item<std::int64_t>() == height * width);
    sizes.insert(height * width);
  }
  REQUIRE(sizes == std::set<std::int64_t>{4, 6, 9});  // in a corner, at a border, within
  REQUIRE(Augmented(images, {.cutout = 100}, kPlace).max().item<float>() == 0);
}

TEST_CASE("a crop or a hole of a negative size is refused, naming the hyper-parameter", "[torch]") {
  Augmentation augmentation;
  REQUIRE_THROWS_WITH(TakeOver({{"crop", std::int64_t{-1}}}, augmentation), Catch::StartsWith("crop: expected"));
  augmentation = {};
  REQUIRE_THROWS_WITH(TakeOver({{"cutout", std::int64_t{-1}}}, augmentation), Catch::StartsWith("cutout: expected"));
}

}  // namespace espalier::trainer
