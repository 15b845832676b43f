// TLS by OpenSSL over a connection of vole's; tls.cc uses it.
//
// OpenSSL is given two buffers in memory, not the socket, so that a goroutine waits between its
// calls and never inside one: OpenSSL keeps its errors per thread, and a goroutine that has waited
// may go on on another thread. One goroutine at a time.

#pragma once

#include <vole/vole.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

class tls_conn {
 public:
  enum class end { client, server };
  tls_conn(SSL_CTX* context, vole::net::conn c, end which)
      : conn_(std::move(c)), ssl_(SSL_new(context), &SSL_free) {
    SSL_set_bio(ssl_.get(), in_, out_);  // they are its own from here on
    if (which == end::server)
      SSL_set_accept_state(ssl_.get());
    else
      SSL_set_connect_state(ssl_.get());
  }
  void check_name(const char* host) {  // a client's: whose certificate it must be
    SSL_set_verify(ssl_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_set1_host(ssl_.get(), host);
  }
  std::size_t read(std::span<char> to) {  // 0: the end
    return until_done([&] { return SSL_read(ssl_.get(), to.data(), static_cast<int>(to.size())); });
  }
  void write(std::string_view s) {
    until_done([&] { return SSL_write(ssl_.get(), s.data(), static_cast<int>(s.size())); });
  }
  void close() {
    SSL_shutdown(ssl_.get());
    flush();
    conn_.close();
  }

 private:
  // Both SSL_read and SSL_write may need to read and to write, for the handshake.
  template <class Call>
  std::size_t until_done(Call call) {
    for (;;) {
      ERR_clear_error();
      const int n = call(), why = SSL_get_error(ssl_.get(), n);
      if (n <= 0 && why != SSL_ERROR_WANT_READ && why != SSL_ERROR_ZERO_RETURN)
        throw std::runtime_error(ERR_reason_error_string(ERR_get_error()));
      flush();  // the first call of vole's since OpenSSL's
      if (n > 0 || why == SSL_ERROR_ZERO_RETURN) return n > 0 ? static_cast<std::size_t>(n) : 0;
      const std::size_t got = conn_.read(buffer_);
      if (got == 0) throw std::runtime_error("the peer is gone without a goodbye");
      BIO_write(in_, buffer_.data(), static_cast<int>(got));
    }
  }
  void flush() {
    for (int n; (n = BIO_read(out_, buffer_.data(), static_cast<int>(buffer_.size()))) > 0;)
      conn_.write(std::string_view(buffer_.data(), static_cast<std::size_t>(n)));
  }
  vole::net::conn conn_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  BIO *in_ = BIO_new(BIO_s_mem()), *out_ = BIO_new(BIO_s_mem());
  std::array<char, 16384> buffer_;
};
