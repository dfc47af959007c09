#include "worker/trainer/data/prefetch.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "worker/trainer/data/batches.h"
#include "worker/trainer/data/fetch_thread.h"

namespace espalier::trainer {
namespace {

// A place in the data.
struct DataPlace {
  std::int64_t epoch = 0;
  State saved;
};

class PrefetchedBatches : public Batches {
 public:
  PrefetchedBatches(std::unique_ptr<Batches> batches, std::vector<DeclaredHyperParameter> hyper_parameters,
                    std::size_t depth)
      : batches_(std::move(batches)),
        hyper_parameters_(std::move(hyper_parameters)),
        depth_(depth),
        used_(PlaceOf(*batches_)) {}

  Form form() const override { return batches_->form(); }

  void Setup(const HyperParameterValues& changed_values) override {
    const auto is_changed = [&](const DeclaredHyperParameter& each) { return changed_values.contains(each.name); };
    if (std::ranges::none_of(hyper_parameters_, is_changed)) return;
    DropFetched();
    batches_->Setup(changed_values);
    used_ = PlaceOf(*batches_);
  }

  Batch Next(std::int64_t size) override {
    if (size != size_) {
      DropFetched();
      size_ = size;
    }
    if (!fetching_.has_value()) BeginToFetch();
    Fetched fetched = fetching_.has_value() ? fetching_->Take() : Fetch();
    used_ = std::move(fetched.behind);
    return std::move(fetched.batch);
  }

  std::int64_t epoch() const override { return used_.epoch; }

  void Validate(const std::function<void(const Batch&)>& take) const override { batches_->Validate(take); }

  void Save(const std::string& prefix, State& state) const override {
    for (const auto& [name, array] : used_.saved) state[prefix + name] = array;
  }

  void Load(const State& state, const std::string& prefix) override {
    fetching_.reset();
    batches_->Load(state, prefix);
    used_ = PlaceOf(*batches_);
  }

 private:
  struct Fetched {
    Batch batch;
    DataPlace behind;
  };

  static DataPlace PlaceOf(const Batches& batches) {
    DataPlace place{.epoch = batches.epoch(), .saved = {}};
    batches.Save("", place.saved);
    return place;
  }

  Fetched Fetch() {
    Batch batch = batches_->Next(size_);
    return {std::move(batch), PlaceOf(*batches_)};
  }

  void BeginToFetch() {
    try {
      fetching_.emplace(depth_, [this] { return Fetch(); });
    } catch (const std::system_error&) {
      // The system has no thread, or no memory for one: then nothing is fetched ahead.
    }
  }

  void DropFetched() {
    if (!fetching_.has_value()) return;
    fetching_.reset();
    batches_->Load(used_.saved, "");
  }

  const std::unique_ptr<Batches> batches_;  // the thread's while there is one, but for what may be called beside Next
  const std::vector<DeclaredHyperParameter> hyper_parameters_;
  const std::size_t depth_;
  DataPlace used_;
  std::int64_t size_ = 0;                         // of what is fetched; changes while nobody fetches
  std::optional<FetchThread<Fetched>> fetching_;  // last: it uses the others
};

}  // namespace

DataSource Prefetched(DataSource source, std::size_t depth) {
  if (depth == 0) return source;
  source.open = [open = source.open, hyper_parameters = source.hyper_parameters, depth](std::uint64_t seed) {
    return std::make_unique<PrefetchedBatches>(open(seed), hyper_parameters, depth);
  };
  return source;
}

}  // namespace espalier::trainer
