#include "master/monitoring/service_meter.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/check.h"
#include "tests/unit/loop/toy_master.h"

namespace espalier::master {
namespace {

// The page as somebody reads it. REQUIRES: it is served on that port.
std::string PageAt(int port) {
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ESPALIER_CHECK(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
  ESPALIER_CHECK(write(connection, request.data(), request.size()) == static_cast<ssize_t>(request.size()));
  std::string page;
  char bytes[4096];
  for (ssize_t count = 0; (count = read(connection, bytes, sizeof(bytes))) > 0;) page.append(bytes, count);
  close(connection);
  return page;
}

bool Says(const std::string& page, const std::string& line) {
  return page.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST_CASE("a page of metrics is served on a port of this machine alone") {
  for (const char* address : {"", "9464", ":9464", "0.0.0.0:9464", "10.0.0.5:9464", "localhost:9464"}) {
    CAPTURE(address);
    CHECK(ServiceMeter::Open(address).error().field == "metrics_address");
  }
  const auto meter = ServiceMeter::Open("127.0.0.1:0").value();
  const std::string taken = "127.0.0.1:" + std::to_string(meter->port());
  CHECK(ServiceMeter::Open(taken).error().code == ErrorCode::kUnavailable);
}

TEST_CASE("a master's page says whether it leads, and is read while loops come and go") {
  const auto meter = ServiceMeter::Open("127.0.0.1:0").value();
  CHECK(Says(PageAt(meter->port()), "espalier_leads 0"));
  for (int i = 0; i < 3; ++i) {
    ToyMaster master;
    master.Start();
    std::atomic<bool> leads = false;
    std::jthread reader([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        if (Says(PageAt(meter->port()), "espalier_leads 1")) leads = true;
      }
    });
    meter->Watch(master.loop, 7);
    while (!leads) std::this_thread::yield();
    master.loop.Stop();  // readers wait for it, or find it gone
    meter->Forget();
    CHECK(Says(PageAt(meter->port()), "espalier_leader_epoch 7"));
    REQUIRE(master.Finish().has_value());
    reader.request_stop();
  }
  CHECK(Says(PageAt(meter->port()), "espalier_leads 0"));
}

TEST_CASE("each event and each commit is measured, and nothing is changed by that") {
  const auto meter = ServiceMeter::Open("127.0.0.1:0").value();
  const EventHandler handler = [](MasterState&, const Event&, Time) {
    return Transition{.edit = {RestartLeases{}}, .effects = {LogLine{LogLevel::kInfo, "handled", {}}}};
  };
  MasterState state;
  CHECK(meter->Measured(handler)(state, Tick{}, Time{}).effects.size() == 1);
  CHECK(meter->Measured(handler)(state, ClientCall{.what = CancelStudy{}}, Time{}).edit.size() == 1);
  MemoryStateStore memory;
  CHECK(meter->Measured(memory)->Commit({RestartLeases{}, RestartLeases{}}).has_value());
  const std::string page = PageAt(meter->port());
  INFO(page);
  CHECK(Says(page, "espalier_event_seconds_count{event=\"tick\"} 1"));
  CHECK(Says(page, "espalier_event_seconds_count{event=\"cancel_study\"} 1"));
  CHECK(Says(page, "espalier_commit_changes_sum 2"));
  CHECK(Says(page, "espalier_commit_failures_total 0"));
}

}  // namespace espalier::master
