#include "worker/trainer/data/text_files.h"

#include <ATen/ops/equal.h>

#include <catch2/catch.hpp>
#include <set>

#include "tests/unit/trainer/data_folder.h"
#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/text_order.h"
#include "worker/trainer/data/tokens.h"

namespace espalier::trainer {
namespace {

using test::DataFolder;
// LibTorch's headers take CHECK away: here is REQUIRE alone.

std::vector<std::int64_t> Row(const at::Tensor& rows, std::int64_t i) {
  const at::Tensor row = rows[i].contiguous();
  return {row.data_ptr<std::int64_t>(), row.data_ptr<std::int64_t>() + row.numel()};
}

std::string AsText(const std::vector<std::int64_t>& tokens) { return {tokens.begin(), tokens.end()}; }

// Each window of an epoch, as text.
std::vector<std::string> Windows(TextOrder& order, std::int64_t length, std::int64_t count) {
  std::vector<std::string> windows;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(length + 1));
    order.Next(length, tokens.data());
    tokens.pop_back();
    windows.push_back(AsText(tokens));
  }
  return windows;
}

// No two pages alike.
std::string LongText(std::int64_t pages) {
  std::string text;
  for (std::int64_t i = 0; i < pages * kPageTokens / 8; ++i) text += std::to_string(10'000'000 + i);
  return text;
}

HyperParameterValues Length(std::int64_t length) { return {{"length", length}}; }

}  // namespace

TEST_CASE("an epoch of a text goes through all its pages, in another order than the next", "[torch]") {
  const std::string text = LongText(9) + "the rest";
  TextOrder order(text, 5);
  const std::vector<std::string> first = Windows(order, 64, 72);
  REQUIRE(order.epoch() == 0);
  const std::vector<std::string> second = Windows(order, 64, 72);
  REQUIRE(order.epoch() == 1);
  REQUIRE(first != second);
  REQUIRE(std::multiset(first.begin(), first.end()) == std::multiset(second.begin(), second.end()));
  std::size_t size = 0;
  for (const std::string& window : first) {
    REQUIRE(text.find(window) != std::string::npos);
    size += window.size();
  }
  REQUIRE(size == 9 * kPageTokens);
  TextOrder other_seed(text, 6);
  REQUIRE(Windows(other_seed, 64, 72) != first);
}

TEST_CASE("a text is read on from any place, with windows of another length", "[torch]") {
  const std::string text = LongText(3);
  TextOrder order(text, 5);
  Windows(order, 50, 7);
  TextOrder resumed(text, 5);
  Windows(resumed, 64, 30);
  REQUIRE(resumed.GoTo(order.epoch(), order.position()));
  REQUIRE(Windows(resumed, 33, 80) == Windows(order, 33, 80));
  REQUIRE(order.epoch() > 0);
  REQUIRE_FALSE(order.GoTo(0, 3 * kPageTokens));
  REQUIRE_FALSE(order.GoTo(-1, 0));
}

TEST_CASE("of a text each place is to tell the next, for validation in the text's order", "[torch]") {
  const DataFolder folder;
  folder.Write("train.txt", "abcdefghij");
  folder.Pack("test.txt.gz", "0123456789");
  const DataSource source = folder.Found();
  REQUIRE(source.kind == DataKind::kText);
  const auto batches = source.open(1);
  batches->Setup(Length(3));
  REQUIRE(batches->form().labels_places);
  const Batch batch = batches->Next(2);
  REQUIRE(AsText(Row(batch.inputs, 0)) + AsText(Row(batch.inputs, 1)) == "abcdef");
  REQUIRE(AsText(Row(batch.labels, 0)) + AsText(Row(batch.labels, 1)) == "bcdefg");
  REQUIRE(batches->epoch() == 0);
  REQUIRE(batches->Next(2).inputs.size(0) == 1);  // none spans an epoch's end
  REQUIRE(batches->epoch() == 1);

  batches->Setup(Length(4));
  std::string inputs;
  std::string labels;
  batches->Validate([&](const Batch& each) {
    for (std::int64_t i = 0; i < each.inputs.size(0); ++i) {
      inputs += AsText(Row(each.inputs, i)) + " ";
      labels += AsText(Row(each.labels, i)) + " ";
    }
  });
  REQUIRE(inputs == "0123 4567 8 ");
  REQUIRE(labels == "1234 5678 9 ");
}

TEST_CASE("a second text is mixed in by its share, and an epoch stays as long", "[torch]") {
  const DataFolder folder;
  folder.Write("train.txt", std::string(2001, 'a'));
  folder.Write("second.txt", std::string(100, 'b'));
  folder.Write("test.txt", "ab");
  const auto share = [&](double mix) {
    const auto batches = folder.Found().open(1);
    batches->Setup({{"length", std::int64_t{10}}, {"mix", mix}});
    std::int64_t of_second = 0;
    while (batches->epoch() == 0) of_second += batches->Next(32).inputs.eq('b').sum().item<std::int64_t>();
    return static_cast<double>(of_second) / 2000;
  };
  REQUIRE(share(0) == 0);
  REQUIRE(share(1) == 1);
  REQUIRE(std::abs(share(0.3) - 0.3) < 0.1);
  // Which samples that are is another matter in each epoch.
  const auto batches = folder.Found().open(1);
  batches->Setup({{"length", std::int64_t{10}}, {"mix", 0.5}});
  const at::Tensor first = batches->Next(200).inputs;
  REQUIRE(batches->epoch() == 1);
  REQUIRE_FALSE(at::equal(batches->Next(200).inputs, first));
}

TEST_CASE("text whose length or share cannot be is refused, naming the hyper-parameter", "[torch]") {
  const DataFolder folder;
  folder.Write("train.txt", "abcdefghij");
  folder.Write("second.txt", "abcde");
  folder.Write("test.txt", "ab");
  const auto batches = folder.Found().open(1);
  REQUIRE_THROWS_WITH(batches->Setup(Length(0)), Catch::StartsWith("length: expected"));
  REQUIRE_THROWS_WITH(batches->Setup(Length(5)), Catch::StartsWith("length: expected fewer than the text's 5"));
  REQUIRE_THROWS_WITH(batches->Setup({{"length", std::int64_t{2}}, {"mix", 1.5}}), Catch::StartsWith("mix: expected"));
  folder.Write("test.txt", "a");
  REQUIRE_THROWS_WITH(folder.Found().open(1), Catch::Contains("test.txt: it is too short"));
}

TEST_CASE("lines of text are samples, cut or padded, of the class that their file is named after", "[torch]") {
  const DataFolder folder;
  folder.Write("train/no.txt", "abcdef\r\n\nb");
  folder.Pack("train/yes.txt.gz", "cd\n");
  folder.Write("test/yes.txt", "x\nxy\n");
  const DataSource source = folder.Found();
  REQUIRE(source.kind == DataKind::kLabeledLines);
  const auto batches = source.open(1);
  batches->Setup(Length(4));
  REQUIRE(batches->form().class_count == 2);
  const Batch batch = batches->Next(9);
  std::set<std::pair<std::int64_t, std::vector<std::int64_t>>> rows;
  for (std::int64_t i = 0; i < 3; ++i) rows.emplace(batch.labels[i].item<std::int64_t>(), Row(batch.inputs, i));
  const std::int64_t begin = kBeginningToken;
  const std::int64_t none = kPaddingToken;
  REQUIRE(rows ==
          decltype(rows){{0, {begin, 'a', 'b', 'c'}}, {0, {begin, 'b', none, none}}, {1, {begin, 'c', 'd', none}}});
  batches->Validate([&](const Batch& each) {
    REQUIRE(Row(each.inputs, 0) == std::vector<std::int64_t>{begin, 'x', none});
    REQUIRE(Row(each.inputs, 1) == std::vector<std::int64_t>{begin, 'x', 'y'});
    REQUIRE(Row(each.labels.unsqueeze(0), 0) == std::vector<std::int64_t>{1, 1});
  });
  folder.Write("test/maybe.txt", "x\n");
  REQUIRE_THROWS_WITH(folder.Found().open(1), Catch::Contains("maybe.txt: there is no class 'maybe' for training"));
}

}  // namespace espalier::trainer
