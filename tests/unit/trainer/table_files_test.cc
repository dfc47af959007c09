#include "worker/trainer/data/table_files.h"

#include <catch2/catch.hpp>

#include "tests/unit/trainer/data_folder.h"
#include "worker/trainer/data/batches.h"

namespace espalier::trainer {
namespace {

using test::DataFolder;
// LibTorch's headers take CHECK away: here is REQUIRE alone.

std::unique_ptr<Batches> Opened(const std::string& training, const std::string& validation) {
  const DataFolder folder;
  folder.Write("train.csv", training);
  folder.Write("test.csv", validation);
  return folder.Found().open(1);
}

// The table's numbers by label, in the order of the samples.
std::map<std::int64_t, std::vector<float>> ByLabel(const Batch& batch) {
  std::map<std::int64_t, std::vector<float>> rows;
  for (std::int64_t i = 0; i < batch.labels.size(0); ++i) {
    std::vector<float>& row = rows[batch.labels[i].item<std::int64_t>()];
    for (std::int64_t j = 0; j < batch.inputs.size(1); ++j) row.push_back(batch.inputs[i][j].item<float>());
  }
  return rows;
}

}  // namespace

TEST_CASE("a table is read, and its columns standardised over the samples for training", "[torch]") {
  const auto batches = Opened("1,0,dog\n3,0,cat\n", "5,7,dog\n");
  REQUIRE(batches->form().input_shape == std::vector<std::int64_t>{2});
  REQUIRE(batches->form().class_count == 2);
  const auto rows = ByLabel(batches->Next(9));
  REQUIRE(rows.at(0) == std::vector<float>{1, 0});  // cat: classes are in the order of their names
  REQUIRE(rows.at(1) == std::vector<float>{-1, 0});
  batches->Validate([](const Batch& batch) {
    REQUIRE(ByLabel(batch) == std::map<std::int64_t, std::vector<float>>{{1, {3, 7}}});
  });
}

TEST_CASE("a table may have a head, which says where the labels are, quotes, empty lines and other line ends",
          "[torch]") {
  const auto plain = Opened("1,3,a\n2,5,b\n", "1,3,a\n")->Next(9);
  for (const char* text :
       {"label,x,y\na,1,3\nb,2,5\n", "x,label,y\r\n1,a,3\r\n\r\n2,b,5", "\n\"x\",y,label\n1,\"3\",a\n2,5,b"}) {
    INFO(text);
    const auto batch = Opened(text, text)->Next(9);
    REQUIRE(ByLabel(batch) == ByLabel(plain));
  }
}

TEST_CASE("what is wrong in a table is said with its file and line", "[torch]") {
  const std::string good = "1,2,a\n3,4,b\n";
  const auto refused = [&](const std::string& training, const std::string& validation, const std::string& why) {
    INFO(why);
    REQUIRE_THROWS_WITH(Opened(training, validation), Catch::Contains(why));
  };
  refused("1,2,a\n\n3,4\n", good, "train.csv:3: expected 3 fields, as in the first row, got 2");
  refused("1,2,a\n3,four,b\n", good, "train.csv:2: field 2: expected a number, got 'four'");
  refused("1,2,a\n3,nan,b\n", good, "train.csv:2: field 2: expected a number");
  refused("1,2,a\n3,1e99,b\n", good, "train.csv:2: field 2: expected a number");
  refused("x,y,z\n1,2,a\n", good, "train.csv:1: none of the columns is named 'label'");
  refused("1\n2\n", good, "train.csv:1: expected numbers and a label");
  refused("", good, "train.csv: it has no rows");
  refused("1,2,a\n3,\"4\"4,b\n", good, "train.csv:2: a quote");
  refused("1,2,a\n3,4,\"b\n1,2,a\n", good, "train.csv:2: a quote (\") is not closed");
  refused("1,2,a\n3,4,\"" + std::string(2 << 20, 'b'), good, "train.csv:2: a row is longer than a mebibyte");
  refused(good, "1,2,a\n3,4,c\n", "test.csv:2: the label 'c' is none of those for training");
  refused(good, "1,2,3,a\n", "test.csv: its samples are of another size");
}

}  // namespace espalier::trainer
