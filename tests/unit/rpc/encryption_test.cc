#include "proto/encryption.h"

#include <fstream>

#include "proto/channel.h"
#include "tests/unit/rpc/service.h"
#include "tests/unit/rpc/tls_door.h"

namespace espalier::master::testing {
namespace {

using espalier::testing::Certificates;

// Whether a caller who is protected so is let in by one who listens so, and why not.
Outcome Ask(const Service& service, const Encryption& caller) {
  v1::ListUsersRequest request;
  const auto channel = OpenChannel(service.address(), caller).value();
  return CallOnce(channel, "/espalier.v1.UserService/ListUsers", request, "Bearer " + service.root);
}

bool IsLetIn(const Service& service, const Encryption& caller) {
  return Ask(service, caller).code == grpc::StatusCode::OK;
}

std::string FieldOf(const std::string& address, const Encryption& encryption) {
  const auto credentials = CallerCredentials(address, encryption);
  return credentials.has_value() ? "" : credentials.error().field;
}

std::string FieldOf(const std::string& address, const ListenerEncryption& encryption) {
  const auto credentials = ListenerCredentials(address, encryption);
  return credentials.has_value() ? "" : credentials.error().field;
}

constexpr char kHere[] = "127.0.0.1:7700";
constexpr char kElsewhere[] = "10.0.0.5:7700";

}  // namespace

TEST_CASE("an address is on this machine if it is a socket's, or all its hosts are loopback ones") {
  for (const char* address :
       {"unix:/run/espalier/master.sock", "unix-abstract:name", "localhost:7700", kHere, "127.8.9.1:1", "[::1]:7700",
        "ipv4:127.0.0.1:7700,127.0.0.2:7700", "ipv6:[::1]:7700", "dns:///localhost:7700", "dns:localhost:7700"}) {
    CAPTURE(address);
    CHECK(IsOnThisMachine(address));
  }
  for (const char* address :
       {"", "0.0.0.0:7700", "[::]:7700", kElsewhere, "espalier.example:7700", "localhost.example:7700",
        "127.0.0.1.example:7700", "ipv4:127.0.0.1:7700,10.0.0.5:7700", "dns://127.0.0.1/espalier.example:7700"}) {
    CAPTURE(address);
    CHECK_FALSE(IsOnThisMachine(address));
  }
}

TEST_CASE("beyond this machine a master listens with a certificate, or in plain text if that is said") {
  const Certificates certificates;
  certificates.Make("ca", "server", "IP:127.0.0.1");
  const ListenerEncryption tls{.certificate_file = certificates.Pem("server"), .key_file = certificates.Key("server")};
  CHECK(FieldOf(kHere, ListenerEncryption{}).empty());
  CHECK(FieldOf("unix:/socket", ListenerEncryption{}).empty());
  CHECK(FieldOf(kElsewhere, ListenerEncryption{}) == "listen_address");
  CHECK(FieldOf("0.0.0.0:7700", ListenerEncryption{}) == "listen_address");
  CHECK(FieldOf(kElsewhere, ListenerEncryption{.plaintext = true}).empty());
  CHECK(FieldOf(kElsewhere, tls).empty());
  CHECK(FieldOf(kHere, tls).empty());
  CHECK(FieldOf("unix:/socket", tls) == "certificate_file");
  ListenerEncryption both = tls;
  both.plaintext = true;
  CHECK(FieldOf(kElsewhere, both) == "plaintext");
}

TEST_CASE("files that are no certificates or keys, or do not belong together, are refused with the field") {
  const Certificates certificates;
  certificates.Make("ca", "server", "IP:127.0.0.1");
  certificates.Make("ca", "other", "IP:127.0.0.1");
  const std::string pem = certificates.Pem("server");
  const std::string key = certificates.Key("server");
  const std::string absent = certificates.File("absent");
  const std::string text = certificates.File("text");
  std::ofstream(text) << "no certificate";
  const auto check = [&](const ListenerEncryption& listener, const std::string& field) {
    CAPTURE(listener.certificate_file, listener.key_file, listener.client_ca_file);
    CHECK(FieldOf(kElsewhere, listener) == field);
    CHECK(FieldOf(kElsewhere, Encryption{.ca_file = listener.client_ca_file,
                                         .certificate_file = listener.certificate_file,
                                         .key_file = listener.key_file}) ==
          (field == "client_ca_file" ? "ca_file" : field));
  };
  check({.certificate_file = pem, .key_file = key, .client_ca_file = certificates.Pem("ca")}, "");
  check({.certificate_file = pem}, "key_file");
  check({.key_file = key}, "certificate_file");
  check({.certificate_file = absent, .key_file = key}, "certificate_file");
  check({.certificate_file = text, .key_file = key}, "certificate_file");
  check({.certificate_file = key, .key_file = key}, "certificate_file");
  check({.certificate_file = pem, .key_file = absent}, "key_file");
  check({.certificate_file = pem, .key_file = pem}, "key_file");
  check({.certificate_file = pem, .key_file = certificates.Key("other")}, "key_file");
  check({.certificate_file = pem, .key_file = key, .client_ca_file = absent}, "client_ca_file");
  check({.certificate_file = pem, .key_file = key, .client_ca_file = text}, "client_ca_file");
  CHECK(FieldOf(kElsewhere, ListenerEncryption{.client_ca_file = certificates.Pem("ca")}) == "client_ca_file");
  CHECK(FieldOf(kElsewhere, Encryption{.ca_file = certificates.Pem("ca"), .plaintext = true}) == "plaintext");
}

TEST_CASE("whose address is several masters' has to say what their certificates name") {
  const char* several = "ipv4:10.0.0.5:7700,10.0.0.6:7700";
  CHECK(FieldOf(several, Encryption{}) == "server_name");
  CHECK(FieldOf(several, Encryption{.server_name = "espalier"}).empty());
  CHECK(FieldOf(several, Encryption{.plaintext = true}).empty());
  CHECK(FieldOf("ipv4:127.0.0.1:7700,127.0.0.1:7701", Encryption{}).empty());
}

// Handshakes take seconds under a sanitizer that does not see into gRPC: none runs these.
TEST_CASE("a master with a certificate is called by those who trust its authority, and by nobody in plain text",
          "[large]") {
  const Certificates certificates;
  const Service service(true, TlsDoor(certificates));
  certificates.Make("other-ca", "other", "IP:127.0.0.1");
  const std::string ca = certificates.Pem("ca");
  CHECK(IsLetIn(service, {.ca_file = ca}));
  CHECK(IsLetIn(service, {.ca_file = ca, .server_name = "espalier"}));
  CHECK_FALSE(IsLetIn(service, {.ca_file = ca, .server_name = "espalier.example"}));
  CHECK_FALSE(IsLetIn(service, {.ca_file = certificates.Pem("other-ca")}));
  CHECK_FALSE(IsLetIn(service, {.server_name = "espalier"}));  // by the system's authorities
  CHECK_FALSE(IsLetIn(service, {}));
}

TEST_CASE("a master that asks for certificates is called by those who have one of its authority alone", "[large]") {
  const Certificates certificates;
  Door door = TlsDoor(certificates);
  certificates.Make("client-ca", "ann", "DNS:ann");
  certificates.Make("other-ca", "eve", "DNS:eve");
  door.listener.client_ca_file = certificates.Pem("client-ca");
  door.caller.certificate_file = certificates.Pem("ann");
  door.caller.key_file = certificates.Key("ann");
  const Service service(true, door);
  CHECK(IsLetIn(service, door.caller));
  CHECK_FALSE(IsLetIn(service, {.ca_file = certificates.Pem("ca")}));
  CHECK_FALSE(IsLetIn(service, {.ca_file = certificates.Pem("ca"),
                                .certificate_file = certificates.Pem("eve"),
                                .key_file = certificates.Key("eve")}));
}

TEST_CASE("a certificate that is replaced is shown to whoever calls from then on, and ends no connection", "[large]") {
  const Certificates certificates;
  Door door = TlsDoor(certificates);
  Service service(true, door);
  certificates.Make("new-ca", "new", "IP:127.0.0.1");
  const auto ask = [&] {
    service.Get<v1::ListUsersResponse>(service.root, "UserService/ListUsers", v1::ListUsersRequest());
  };
  ask();
  std::filesystem::rename(certificates.Key("new"), door.listener.key_file);
  std::filesystem::rename(certificates.Pem("new"), door.listener.certificate_file);
  while (!IsLetIn(service, {.ca_file = certificates.Pem("new-ca")})) std::this_thread::yield();
  CHECK_FALSE(IsLetIn(service, {.ca_file = certificates.Pem("ca")}));
  ask();  // by the connection that there was
}

}  // namespace espalier::master::testing
