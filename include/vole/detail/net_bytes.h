// What conn and packet_conn read into and write from. Not for users by itself.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <system_error>
#include <type_traits>

#include <vole/context.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace net {

template <class T>
concept byte_type = std::same_as < std::remove_cv_t<T>,
char > || std::same_as<std::remove_cv_t<T>, unsigned char> ||
    std::same_as<std::remove_cv_t<T>, std::byte>;

template <class R>
concept contiguous_bytes = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    byte_type<std::ranges::range_value_t<R>>;

// A contiguous range of char, unsigned char or std::byte that can be changed: what is read into.
template <class R>
concept byte_buffer = contiguous_bytes<R> &&
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

// A contiguous range of char, unsigned char or std::byte: what is written. An array of char is text,
// up to its terminating NUL, and goes by std::string_view.
template <class R>
concept byte_sequence = contiguous_bytes<R> && !(std::is_array_v<std::remove_reference_t<R>> &&
                                                 std::same_as<std::ranges::range_value_t<R>, char>);

}  // namespace net

namespace detail {

// What may follow the bytes: nothing, an error_code&, a context, a context and an error_code&.
template <class... Last>
inline constexpr bool ends_a_wait = sizeof...(Last) == 0;
template <class A>
inline constexpr bool ends_a_wait<A> =
    std::is_same_v<A, std::error_code&> || std::is_convertible_v<A, const context&>;
template <class A, class B>
inline constexpr bool ends_a_wait<A, B> =
    std::is_convertible_v<A, const context&>&& std::is_same_v<B, std::error_code&>;

// Those have functions of their own, which take {pointer, size} as well.
template <class R, class... Own>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_cvref_t<R>, Own> || ...);
template <class R>
concept other_buffer = net::byte_buffer<R> &&
    !is_one_of<R, std::span<std::byte>, std::span<char>, std::span<unsigned char>>;
template <class R>
concept other_sequence = net::byte_sequence<R> &&
    !is_one_of<R, std::span<const std::byte>, std::string_view, std::span<const unsigned char>>;

// Neither of those, nor what becomes one: a mistake.
template <class R>
concept no_buffer = !net::byte_buffer<R> && !std::is_convertible_v<R, std::span<std::byte>> &&
                    !std::is_convertible_v<R, std::span<char>> &&
                    !std::is_convertible_v<R, std::span<unsigned char>>;
template <class R>
concept no_sequence = !net::contiguous_bytes<R> && !std::is_convertible_v<R, std::string_view> &&
                      !std::is_convertible_v<R, std::span<const std::byte>> &&
                      !std::is_convertible_v<R, std::span<const unsigned char>> &&
                      !std::is_convertible_v<R, std::span<const std::span<const std::byte>>>;

template <class R>
std::span<std::byte> buffer_of(R& r) noexcept {
  return std::as_writable_bytes(std::span(std::ranges::data(r), std::ranges::size(r)));
}
template <class R>
std::span<const std::byte> bytes_of(const R& r) noexcept {
  return std::as_bytes(std::span(std::ranges::data(r), std::ranges::size(r)));
}

}  // namespace detail
}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
