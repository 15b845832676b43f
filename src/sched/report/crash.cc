#include "sched/report/crash.h"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <system_error>
#include <typeinfo>
#include <utility>

#include "base/fatal.h"
#include "os/os.h"
#include "sched/report/dump.h"
#include "sched/report/frames.h"
#include "sched/report/overflow_sig.h"
#include "sched/report/thrown.h"
#include "sched/state.h"

namespace vole::rt::crash {
namespace {

constinit std::terminate_handler previous_terminate = nullptr;
constinit bool hook_installed = false;

void to_stderr(std::string_view text, void*) noexcept { write_stderr(text.data(), text.size()); }

// Perhaps in a signal handler, and that perhaps inside malloc: a stack overflow is noticed on the
// alternate stack; a handler that calls vole may have interrupted it on a goroutine's.
bool may_be_in_handler() noexcept {
  const M* const m = this_m();
  if (m == nullptr) return false;
  if (os::in_alternate_stack(m->alternate_stack, __builtin_frame_address(0))) return true;
  return m->curg != nullptr && m->hot.in_rt.load(relaxed) != 0;
}

void dump_everything() noexcept {
  to_stderr("\n", nullptr);
  if (const faulted* const f = fault_in_hand()) return dump::all(f->plain, &f->stack, &to_stderr, nullptr);
  dump::all(may_be_in_handler(), nullptr, &to_stderr, nullptr);
}

// For a class that users cannot name: the standard class it derives from.
std::string_view public_base() noexcept {
  try {
    throw;
  } catch (const std::system_error&) {
    return "std::system_error";
  } catch (const std::logic_error&) {
    return "std::logic_error";
  } catch (const std::runtime_error&) {
    return "std::runtime_error";
  } catch (...) {
    return "std::exception";
  }
}

// Puts a type's name as a user would write it: vole::channel_closed, not vole::v0::channel_closed.
void put_type(sentence& s, std::string_view name) noexcept {
  constexpr std::string_view kOurs = "vole::v0::";
  if (!name.starts_with(kOurs)) {
    s << name;
  } else if (name.starts_with("vole::v0::detail::")) {
    s << public_base();
  } else {
    s << "vole::" << name.substr(kOurs.size());
  }
}

void put_exception(sentence& s) noexcept {
  if (std::current_exception() == nullptr) {
    s << "std::terminate was called";
    return;
  }
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type != nullptr) {
    int status = 0;
    char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    put_type(s, name != nullptr ? name : type->name());
    std::free(name);
  } else {
    s << "an exception";
  }
  try {
    throw;
  } catch (const std::exception& e) {
    s << ": " << e.what();
  } catch (const char* text) {
    s << ": " << text;
  } catch (int number) {
    s << ": " << number;
  } catch (...) {
  }
}

void print_exception() noexcept {
  base::begin_last_words();
  sentence s;
  s << "panic: ";
  put_exception(s);
  s.print();
  to_stderr("\n\n", nullptr);  // by itself: a long what() fills the sentence
}

void put_origin(sentence& s, const origin& by) noexcept {
  s << "thrown by ";
  if (by.id == 0) {
    s << "a goroutine";
  } else {
    s << "goroutine " << by.id;
  }
  if (!by.name.empty()) s << " (" << by.name << ")";
}

// "thrown by goroutine 7 (name), created in function at file.cc:12". The place by itself: it may be
// long.
void print_origin(const origin& by) noexcept {
  sentence s;
  put_origin(s, by);
  if (by.created_at != nullptr) s << ", created in ";
  s.print();
  if (by.created_at == nullptr) return;
  frame_texts names(false);
  names.put_call_site(
      reinterpret_cast<std::uintptr_t>(by.created_at),
      [](std::string_view text, void*) noexcept {  // "function\n\tfile.cc:12\n"
        const std::size_t end = text.find('\n');
        to_stderr(text.substr(0, end), nullptr);
        const std::size_t place = text.find('\t');
        if (place == text.npos) return;
        to_stderr(" at ", nullptr);
        to_stderr(text.substr(place + 1, text.find('\n', place) - place - 1), nullptr);
      },
      nullptr);
}

// False: it is not known.
bool print_throw(const origin& by) noexcept {
  if (by.n == 0) return false;
  to_stderr("The stack of the throw:\n", nullptr);
  frame_texts(false, dump::shows_all_frames()).put_stack(by.frames, by.n, &to_stderr, nullptr);
  to_stderr("\n", nullptr);
  return true;
}

// The last words of this thread have begun: what is thrown, and by whom.
constinit thread_local bool told = false;

// The exception that run() is about to rethrow on this thread.
constinit thread_local const origin* rethrown = nullptr;
constinit std::terminate_handler before_rethrow = nullptr;

// The exception that run() rethrows has no handler.
[[noreturn]] void left_main() noexcept {
  if (const origin* const by = std::exchange(rethrown, nullptr)) {
    print_exception();
    sentence s;
    put_origin(s, *by);
    s << ". It left the function that vole::run() was given; run() has ended the runtime and "
         "rethrown it, and nobody catches it here\n\n";
    s.print();
    if (!print_throw(*by))
      to_stderr("The stack of the throw is gone: gdb's `catch throw` shows it\n", nullptr);
  }
  if (before_rethrow != nullptr) std::exchange(before_rethrow, nullptr)();
  std::abort();
}

// An exception has left a goroutine (or a noexcept function on one). The stack is still that of
// the throw: the first frame of a goroutine ends the search, nothing has been unwound.
[[noreturn]] void panic() noexcept {
  M* const m = this_m();
  if (m == nullptr || m->curg == nullptr) {
    // A handler that the program set between two runs may chain back to this one.
    static constinit thread_local bool asked = false;
    if (previous_terminate != nullptr && !std::exchange(asked, true)) previous_terminate();
    std::abort();
  }
  if (!told) print_exception();
  own_stack thrown;
  thrown.take();
  dump::one(*m->curg, &thrown, false, &to_stderr, nullptr);
  std::abort();
}

}  // namespace

origin this_origin() noexcept {
  const G& g = *this_m()->curg;
  return {g.id, g.created_at, g.name != nullptr ? g.name->text : "", nullptr, 0};
}

void tell_uncollected(const origin& by) noexcept {
  print_exception();
  told = true;
  print_origin(by);
  sentence s;
  s << ". Nobody joined it: its join_handle was destroyed, or assigned to, ";
  if (const M* const m = this_m(); m != nullptr && m->curg != nullptr) {
    s << "by ";
    dump::put_goroutine(s, *m->curg);
  } else {
    s << "on a plain thread";
  }
  s << ". Call join() where exceptions are expected, or detach()\n\n";
  s.print();
  print_throw(by);
}

void begin_rethrow(const origin& by) noexcept {
  static constinit thread_local origin mine;
  mine = by;
  rethrown = &mine;
  if (std::get_terminate() != &left_main) before_rethrow = std::set_terminate(&left_main);
}

void end_rethrow() noexcept {
  rethrown = nullptr;
  if (std::get_terminate() == &left_main) std::set_terminate(before_rethrow);
}

void install() noexcept {
  thrown::install();
  if (!os::install_fault_handler(&on_fault))
    fatal(
        "cannot install the handler for faults: sigaction was refused. Does a sandbox (seccomp) "
        "forbid it?");
  if (!hook_installed) {
    set_fatal_hook(&dump_everything);
    std::atexit([] { base::wait_if_dying(); });  // main returns while a goroutine panics
  }
  hook_installed = true;
  if (std::get_terminate() != &panic) previous_terminate = std::set_terminate(&panic);
}

void uninstall() noexcept {
  os::remove_fault_handler();
  if (std::get_terminate() == &panic) std::set_terminate(previous_terminate);
}

}  // namespace vole::rt::crash
