#include "worker/trainer/data/image_files.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/digest.h"
#include "tests/unit/trainer/data_folder.h"
#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/file_bytes.h"

namespace espalier::trainer {
namespace {

namespace fs = std::filesystem;
using test::DataFolder;
// LibTorch's headers take CHECK away: here is REQUIRE alone.

std::string Bytes(std::initializer_list<int> values) { return {values.begin(), values.end()}; }

const std::string kImagesHead = Bytes({0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2});
const std::string kLabelsHead = Bytes({0, 0, 8, 1, 0, 0, 0, 4});

// Four images of 1 x 2 pixels for training and for validation; labels 0 to 2.
void WriteMnist(const DataFolder& folder) {
  const std::string images = kImagesHead + Bytes({0, 2, 0, 2, 0, 2, 0, 2});
  const std::string labels = kLabelsHead + Bytes({2, 1, 0, 1});
  folder.Write("train-images-idx3-ubyte", images);
  folder.Pack("train-labels-idx1-ubyte.gz", labels);
  folder.Pack("t10k-images-idx3-ubyte.gz", images);
  folder.Write("t10k-labels-idx1-ubyte", labels);
}

}  // namespace

TEST_CASE("MNIST's files are read, packed or not, and standardised", "[torch]") {
  const DataFolder folder;
  WriteMnist(folder);
  const std::unique_ptr<Batches> batches = folder.Found().open(1);
  REQUIRE(batches->form().input_shape == std::vector<std::int64_t>{1, 1, 2});
  REQUIRE(batches->form().class_count == 3);
  const Batch batch = batches->Next(9);
  REQUIRE(batch.labels.sum().item<std::int64_t>() == 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    REQUIRE(batch.inputs[i][0][0][0].item<float>() == -1);
    REQUIRE(batch.inputs[i][0][0][1].item<float>() == 1);
  }
  REQUIRE(batches->epoch() == 1);
}

TEST_CASE("an image is changed otherwise in another epoch", "[torch]") {
  const DataFolder folder;
  WriteMnist(folder);
  const std::unique_ptr<Batches> batches = folder.Found().open(1);
  batches->Setup({{"flip", true}});
  std::set<float> first_pixels;  // of the first image; all are alike
  while (batches->epoch() < 20) first_pixels.insert(batches->Next(4).inputs[0][0][0][0].item<float>());
  REQUIRE(first_pixels == std::set<float>{-1, 1});
}

TEST_CASE("CIFAR-10's files are read, one after another", "[torch]") {
  const DataFolder folder;
  const auto image = [](int label, int red) {
    return Bytes({label}) + std::string(1024, static_cast<char>(red)) + std::string(2048, '\0');
  };
  folder.Write("data_batch_1.bin", image(9, 0));
  folder.Pack("data_batch_2.bin.gz", image(3, 200) + image(3, 200));
  folder.Write("test_batch.bin", image(4, 200));
  const std::unique_ptr<Batches> batches = folder.Found().open(1);
  REQUIRE(batches->form().input_shape == std::vector<std::int64_t>{3, 32, 32});
  REQUIRE(batches->form().class_count == 10);
  const Batch batch = batches->Next(3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const bool is_red = batch.inputs[i][0].mean().item<float>() > 0;
    REQUIRE(batch.labels[i].item<std::int64_t>() == (is_red ? 3 : 9));
    REQUIRE(batch.inputs[i][1].abs().max().item<float>() == 0);  // what does not vary
  }
}

TEST_CASE("data is known by its content, training and validation apart", "[torch]") {
  const DataFolder folder;
  WriteMnist(folder);
  const DataSource before = folder.Found();
  REQUIRE(folder.Found().training_digest == before.training_digest);
  folder.Write("t10k-labels-idx1-ubyte", kLabelsHead + Bytes({2, 1, 0, 0}));
  REQUIRE(folder.Found().training_digest == before.training_digest);
  REQUIRE(folder.Found().validation_digest != before.validation_digest);
  folder.Pack("train-labels-idx1-ubyte.gz", kLabelsHead + Bytes({2, 1, 0, 0}));
  REQUIRE(folder.Found().training_digest != before.training_digest);
}

TEST_CASE("a file that is none of its format is found when it is opened, by name", "[torch]") {
  const auto opened = [](const std::string& name, const std::string& bytes) {
    const DataFolder folder;
    WriteMnist(folder);
    folder.Write(name, bytes);
    folder.Found().open(1);
  };
  const std::string images = "train-images-idx3-ubyte";
  CHECK_THROWS_WITH(opened(images, ""), Catch::Contains(images) && Catch::Contains("IDX file of bytes"));
  CHECK_THROWS_WITH(opened(images, kImagesHead + "1234567"), Catch::Contains("byte 12: it is shorter"));
  CHECK_THROWS_WITH(opened(images, kImagesHead + "123456789"), Catch::Contains("byte 24: it is longer"));
  CHECK_THROWS_WITH(opened("t10k-labels-idx1-ubyte", Bytes({0, 0, 8, 1, 0, 0, 0, 1, 1})), Catch::Contains("one label"));
  CHECK_THROWS_WITH(opened("train-labels-idx1-ubyte.gz", kLabelsHead), Catch::Contains("gzip"));
}

TEST_CASE("a CIFAR-10 file that is cut, or has a label that none is, is refused with the place", "[torch]") {
  const auto opened = [](const std::string& training) {
    const DataFolder folder;
    folder.Write("data_batch_1.bin", training);
    folder.Write("test_batch.bin", std::string(3073, '\0'));
    folder.Found().open(1);
  };
  opened(std::string(3073, '\1'));
  CHECK_THROWS_WITH(opened(std::string(3072, '\1')), Catch::Contains("data_batch_1.bin: it is 3072 bytes long"));
  CHECK_THROWS_WITH(opened(std::string(3073, '\1') + std::string(3073, '\12')),
                    Catch::Contains("byte 3073: expected a label, 0 to 9, got 10"));
}

TEST_CASE("a packed file is not unpacked beyond the bound", "[torch]") {
  const DataFolder folder;
  folder.Pack("zeros.gz", std::string(5'000'000, '\0'));
  REQUIRE(FileBytes::Open(folder.path / "zeros.gz").value()->bytes().size() == 5'000'000);
  REQUIRE(FileBytes::Open(folder.path / "zeros.gz", 5'000'000).has_value());
  const auto refused = FileBytes::Open(folder.path / "zeros.gz", 4'999'999);
  REQUIRE_THAT(refused.error().message, Catch::Contains("zeros.gz: unpacked it is larger than 4999999 bytes"));
}

TEST_CASE("a folder that holds no data is refused, saying what could be there", "[torch]") {
  const DataFolder folder;
  FileDigests digests("");
  REQUIRE_THAT(FindDataFolder("data", folder.path, digests).error().message, Catch::Contains("train.csv"));
  REQUIRE_THAT(FindDataFolder("data", folder.path / "none", digests).error().message,
               Catch::Contains("no such folder"));
}

TEST_CASE("a digest is remembered until the file changes", "[torch]") {
  const DataFolder folder;
  folder.Write("a", "1");
  const fs::path memory = folder.path / "cache" / "digests";
  const std::string digest = FileDigests(memory).Of(folder.path / "a").value();
  REQUIRE(digest == Sha256Hex("1"));
  std::ofstream(memory) << std::string(64, '0') << fs::path(memory).string();  // nothing that is known
  REQUIRE(FileDigests(memory).Of(folder.path / "a").value() == digest);
  folder.Write("a", "12");
  REQUIRE(FileDigests(memory).Of(folder.path / "a").value() == Sha256Hex("12"));
  REQUIRE_FALSE(FileDigests(memory).Of(folder.path / "b").has_value());
}

}  // namespace espalier::trainer
