// The one way from a public object to the record that it refers to, and back. Not for users.
//
// The library makes some public objects from records of its own. Their classes keep that constructor
// and the record private, and have this friend.
#pragma once

#include <utility>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {

struct access {
  template <class T, class... Record>
  static T make(Record&&... record) {
    return T(std::forward<Record>(record)...);
  }

  template <class Channel>
  static auto* core(const Channel& c) noexcept {
    return c.core_;
  }
  template <class Context>
  static auto* node(const Context& c) noexcept {
    return c.node_;
  }
  template <class Address>
  static const auto& parts(const Address& a) noexcept {
    return a.parts_;
  }
};

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
