#include "worker/trainer/data/fetch_thread.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <memory>
#include <stdexcept>

namespace espalier::trainer {
namespace {

const std::size_t kDepths[] = {1, 2, 3, 7};

}  // namespace

TEST_CASE("what is fetched is taken in its order, and never more than the depth is fetched beyond what is taken") {
  for (const std::size_t depth : kDepths) {
    INFO(depth);
    std::atomic<std::size_t> begun = 0;
    FetchThread<std::unique_ptr<std::size_t>> fetching(depth, [&] { return std::make_unique<std::size_t>(begun++); });
    for (std::size_t taken = 0; taken < 1000; ++taken) {
      CHECK(begun <= taken + depth);
      CHECK(*fetching.Take() == taken);
    }
  }
}

TEST_CASE("while one is being used, the next are fetched") {
  std::atomic<int> begun = 0;
  std::promise<void> third_is_fetched;
  FetchThread<int> fetching(2, [&] {
    const int item = begun++;
    if (item == 2) third_is_fetched.set_value();
    return item;
  });
  CHECK(fetching.Take() == 0);
  CHECK(fetching.Take() == 1);
  third_is_fetched.get_future().wait();
  CHECK(fetching.Take() == 2);
}

TEST_CASE("an error comes out where the item would have been, again and again, and nothing is fetched behind it") {
  for (const std::size_t depth : kDepths) {
    INFO(depth);
    std::atomic<int> begun = 0;
    {
      FetchThread<int> fetching(depth, [&] {
        if (begun++ == 2) throw std::runtime_error("7.png: it cannot be decoded");
        return begun.load();
      });
      CHECK(fetching.Take() == 1);
      CHECK(fetching.Take() == 2);
      for (int i = 0; i < 3; ++i) CHECK_THROWS_WITH(fetching.Take(), "7.png: it cannot be decoded");
    }
    CHECK(begun == 3);
  }
}

TEST_CASE("the thread ends with its owner, who waits for what is being fetched, and the rest is dropped") {
  for (const std::size_t depth : kDepths) {
    INFO(depth);
    auto item = std::make_shared<int>(1);
    std::promise<void> last_begun;
    std::promise<void> last_may_end;
    std::size_t begun = 0;  // the thread's, until it is gone
    std::size_t ended = 0;
    std::future<void> lets_it_end;
    {
      FetchThread<std::shared_ptr<int>> fetching(depth, [&] {
        if (++begun == depth) {
          last_begun.set_value();
          last_may_end.get_future().wait();
        }
        ++ended;
        return item;
      });
      last_begun.get_future().wait();
      lets_it_end = std::async(std::launch::async, [&] { last_may_end.set_value(); });
    }
    CHECK(begun == depth);
    CHECK(ended == depth);
    CHECK(item.use_count() == 1);
  }
}

TEST_CASE("an error that nobody meets is nobody's") {
  std::promise<void> thrown;
  FetchThread<int> fetching(3, [&]() -> int {
    thrown.set_value();
    throw std::runtime_error("7.png: it cannot be decoded");
  });
  thrown.get_future().wait();
}

}  // namespace espalier::trainer
