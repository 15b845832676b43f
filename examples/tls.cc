// TLS: OpenSSL over a connection of vole's (tls_conn.h).
//
// Teaches: a library that does its own I/O is given memory instead, so that waiting stays with
// vole; a client that checks whose certificate it is. Built only where libssl-dev is installed.

#include <cstdio>
#include <string>

#include "tls_conn.h"

namespace {

// The server's signs its own certificate, for "localhost"; the client's trusts it.
struct contexts {
  SSL_CTX *server = SSL_CTX_new(TLS_server_method()), *client = SSL_CTX_new(TLS_client_method());
  contexts() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* cert = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_NAME* name = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(cert, name);
    X509_set_pubkey(cert, key);
    X509_sign(cert, key, EVP_sha256());
    SSL_CTX_use_certificate(server, cert);
    SSL_CTX_use_PrivateKey(server, key);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(client), cert);
    X509_free(cert);
    EVP_PKEY_free(key);
  }
  ~contexts() {
    SSL_CTX_free(server);
    SSL_CTX_free(client);
  }
};

}  // namespace

int main() {
  return vole::run([] {
    const contexts ctx;
    vole::net::listener l = vole::net::listen("tcp", "127.0.0.1:0");
    vole::wait_group served;
    served.go([&] {
      tls_conn c(ctx.server, l.accept(), tls_conn::end::server);
      std::array<char, 100> name;
      const std::size_t n = c.read(name);
      c.write("hello, " + std::string(name.data(), n));
      c.close();
    });
    tls_conn c(ctx.client, vole::net::dial("tcp", l.local_address().to_string()),
               tls_conn::end::client);
    c.check_name("localhost");
    c.write("vole");
    std::array<char, 100> answer;
    for (std::size_t n; (n = c.read(answer)) > 0;)
      std::printf("%.*s", static_cast<int>(n), answer.data());
    std::printf("\n");
    c.close();
    served.wait();
  });
}
