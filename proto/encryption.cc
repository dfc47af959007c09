#include "proto/encryption.h"

#include <arpa/inet.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace espalier {
namespace {

constexpr unsigned kReadAgainSeconds = 5;

bool IsSocket(std::string_view address) {
  return address.starts_with("unix:") || address.starts_with("unix-abstract:");
}

std::vector<std::string> HostsOf(std::string_view address) {
  for (const std::string_view scheme : {"ipv4:", "ipv6:", "dns:"}) {
    if (!address.starts_with(scheme)) continue;
    address.remove_prefix(scheme.size());
    address.remove_prefix(address.rfind('/') == std::string_view::npos ? 0 : address.rfind('/') + 1);
  }
  std::vector<std::string> hosts;
  std::istringstream rest{std::string(address)};
  for (std::string each; std::getline(rest, each, ',');) {
    const bool has_brackets = each.starts_with('[') && each.find(']') != std::string::npos;
    hosts.push_back(has_brackets ? each.substr(1, each.find(']') - 1) : each.substr(0, each.rfind(':')));
  }
  return hosts;
}

bool IsLoopback(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost";
}

tl::unexpected<Error> Wrong(std::string message, std::string field) {
  return MakeError(ErrorCode::kInvalidArgument, std::move(message), std::move(field));
}

Result<std::string> ReadFile(const std::string& file, const std::string& field) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.str().empty()) return Wrong("cannot read " + file + ", or it is empty", field);
  return text.str();
}

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio BioOf(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free}; }

// The first of the text.
Result<Certificate> CertificateOf(const std::string& pem, const std::string& file, const std::string& field) {
  Certificate certificate(PEM_read_bio_X509(BioOf(pem).get(), nullptr, nullptr, nullptr), X509_free);
  if (!certificate) return Wrong(file + " holds no certificate in PEM form", field);
  return certificate;
}

// Of those whose certificates are trusted.
Result<std::string> ReadAuthorities(const std::string& file, const std::string& field) {
  ESPALIER_ASSIGN(std::string pem, ReadFile(file, field));
  ESPALIER_RETURN_IF_ERROR(CertificateOf(pem, file, field));
  return pem;
}

struct Identity {
  std::string certificate;
  std::string key;
};

Result<Identity> ReadIdentity(const std::string& certificate_file, const std::string& key_file) {
  if (certificate_file.empty()) return Wrong("is required beside key_file", "certificate_file");
  if (key_file.empty()) return Wrong("is required beside certificate_file", "key_file");
  ESPALIER_ASSIGN(const std::string certificate_pem, ReadFile(certificate_file, "certificate_file"));
  ESPALIER_ASSIGN(const Certificate certificate, CertificateOf(certificate_pem, certificate_file, "certificate_file"));
  ESPALIER_ASSIGN(const std::string key_pem, ReadFile(key_file, "key_file"));
  const Key key(PEM_read_bio_PrivateKey(BioOf(key_pem).get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
  if (!key) return Wrong(key_file + " holds no private key in PEM form without a pass phrase", "key_file");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    return Wrong("the key in " + key_file + " does not belong to the certificate in " + certificate_file, "key_file");
  }
  return Identity{certificate_pem, key_pem};
}

}  // namespace

bool IsOnThisMachine(const std::string& address) {
  if (IsSocket(address)) return true;
  const std::vector<std::string> hosts = HostsOf(address);
  return !hosts.empty() && std::ranges::all_of(hosts, IsLoopback);
}

Result<std::shared_ptr<grpc::ChannelCredentials>> CallerCredentials(const std::string& address,
                                                                    const Encryption& encryption) {
  const bool has_identity = !encryption.certificate_file.empty() || !encryption.key_file.empty();
  const bool names_some = has_identity || !encryption.ca_file.empty() || !encryption.server_name.empty();
  if (encryption.plaintext && names_some) {
    return Wrong("is set, and so is what encryption takes; leave out one of them", "plaintext");
  }
  if (IsSocket(address) || (!names_some && (encryption.plaintext || IsOnThisMachine(address))))
    return grpc::InsecureChannelCredentials();
  if (encryption.server_name.empty() && HostsOf(address).size() > 1) {
    return Wrong("is required where an address is several masters': what the certificate of each of them names",
                 "server_name");
  }
  grpc::SslCredentialsOptions options;
  if (!encryption.ca_file.empty()) {
    ESPALIER_ASSIGN(options.pem_root_certs, ReadAuthorities(encryption.ca_file, "ca_file"));
  }
  if (has_identity) {
    ESPALIER_ASSIGN(const Identity identity, ReadIdentity(encryption.certificate_file, encryption.key_file));
    options.pem_cert_chain = identity.certificate;
    options.pem_private_key = identity.key;
  }
  return grpc::SslCredentials(options);
}

Result<std::shared_ptr<grpc::ServerCredentials>> ListenerCredentials(const std::string& listen_address,
                                                                     const ListenerEncryption& encryption) {
  const bool has_identity = !encryption.certificate_file.empty() || !encryption.key_file.empty();
  if (encryption.plaintext && has_identity) {
    return Wrong("is set, and so is certificate_file; leave out one of them", "plaintext");
  }
  if (has_identity && IsSocket(listen_address)) {
    return Wrong("means nothing to " + listen_address + ": what goes through a Unix socket leaves no machine",
                 "certificate_file");
  }
  if (!has_identity) {
    if (!encryption.client_ca_file.empty()) return Wrong("takes a certificate_file, too", "client_ca_file");
    if (IsOnThisMachine(listen_address)) return grpc::InsecureServerCredentials();
    if (!encryption.plaintext) {
      return Wrong(listen_address +
                       " is beyond this machine: set certificate_file and key_file; or plaintext: true, in a network "
                       "where whoever can listen in may read and use all tokens and data",
                   "listen_address");
    }
    Log(LogLevel::kWarning, "tokens and data travel unencrypted", {{"address", listen_address}});
    return grpc::InsecureServerCredentials();
  }
  ESPALIER_RETURN_IF_ERROR(ReadIdentity(encryption.certificate_file, encryption.key_file));
  if (!encryption.client_ca_file.empty()) {
    ESPALIER_RETURN_IF_ERROR(ReadAuthorities(encryption.client_ca_file, "client_ca_file"));
  }
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions options(std::make_shared<tls::FileWatcherCertificateProvider>(
      encryption.key_file, encryption.certificate_file, encryption.client_ca_file, kReadAgainSeconds));
  options.watch_identity_key_cert_pairs();
  if (!encryption.client_ca_file.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(options);
}

}  // namespace espalier
