// Signals as values: Go's signal.Notify, NotifyContext, Ignore and Reset.
#pragma once

#include <csignal>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <vole/chan.h>
#include <vole/context.h>
#include <vole/detail/access.h>

#pragma GCC visibility push(default)
namespace vole {
inline namespace v0 {
namespace detail {
class signal_listener;
signal_listener* listen_to_signals(send_chan<int> to, std::span<const int> signals);
signal_listener* listen_to_signals(context canceled, std::span<const int> signals);
void end_listening(signal_listener* l) noexcept;
void cancel_by_signal(const context& ctx, int number);  // user context, a plain thread
}  // namespace detail

// The result of signal_notify. Movable. Destroying it ends the registration.
class registration {
 public:
  registration() noexcept = default;
  registration(registration&& other) noexcept
      : listener_(std::exchange(other.listener_, nullptr)) {}
  registration& operator=(registration&& other) noexcept {
    if (this == &other) return *this;
    stop();
    listener_ = std::exchange(other.listener_, nullptr);
    return *this;
  }
  ~registration() { stop(); }

  // Nothing is sent after it has returned. With the last registration of a signal, the handler or
  // the action that it had before is back.
  void stop() noexcept {
    if (listener_ != nullptr) detail::end_listening(std::exchange(listener_, nullptr));
  }

 private:
  friend struct detail::access;
  explicit registration(detail::signal_listener* owned) noexcept : listener_(owned) {}
  detail::signal_listener* listener_ = nullptr;
};

// Each of these signals that the process gets from now on is sent to the channel, by try_send: what
// the channel has no room for is lost to it, so give it a capacity, of 1 at least. They do nothing
// else meanwhile: SIGINT does not end the program. Several registrations of a signal all get it.
// Any thread; no runtime is needed. Throws std::invalid_argument if a signal cannot be caught
// (SIGKILL, SIGSTOP), is a fault of the thread it comes to (SIGSEGV, SIGFPE, ...), or is none, if
// there are none, and for the nil channel; std::system_error if the system refuses;
// std::logic_error in a forked child whose parent has registrations.
[[nodiscard]] inline registration signal_notify(send_chan<int> to, std::span<const int> signals) {
  return detail::access::make<registration>(detail::listen_to_signals(std::move(to), signals));
}
[[nodiscard]] inline registration signal_notify(send_chan<int> to,
                                                std::initializer_list<int> signals) {
  return signal_notify(std::move(to), std::span<const int>(signals.begin(), signals.size()));
}

// The cause of a signal_context that a signal has ended.
class signal_received : public std::runtime_error {
 public:
  explicit signal_received(int number)
      : std::runtime_error("vole: signal " + std::to_string(number) + " received"),
        number_(number) {}
  // Which signal it was.
  int number() const noexcept { return number_; }

 private:
  int number_;
};

// A context that is cancelled when one of these signals comes; its cause() is a signal_received. They
// do nothing else until cancel() is called or destroyed, also after the context has ended: call
// cancel() then, and the next Ctrl-C ends the program. Stop callbacks run on a goroutine of vole's or,
// while no runtime runs, on the thread that delivers signals.
// Throws as signal_notify.
[[nodiscard]] detail::new_cancelable signal_context(const context& parent,
                                                    std::span<const int> signals);
[[nodiscard]] inline detail::new_cancelable signal_context(const context& parent,
                                                           std::initializer_list<int> signals) {
  return signal_context(parent, std::span<const int>(signals.begin(), signals.size()));
}

template <detail::dying_context C, class Signals>
void signal_context(C&& its_cancel_function_is_gone, const Signals&) = delete;
template <detail::dying_context C>
void signal_context(C&& its_cancel_function_is_gone, std::initializer_list<int>) = delete;

// The signal does nothing from now on, and no earlier registration or context gets it any more; one
// that is made later does, as if it had never been ignored. Programs that are started by exec ignore
// it, too. Throws as signal_notify.
void ignore_signal(int number);
// Undoes what signal_notify, signal_context and ignore_signal did to it: no earlier registration
// gets it any more, and the handler or the action that it had before vole is back.
void reset_signal(int number);

}  // namespace v0
}  // namespace vole
#pragma GCC visibility pop
