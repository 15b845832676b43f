#include "sched/crash.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <cstdlib>
#include <exception>
#include <typeinfo>
#include <utility>

#include "base/fatal.h"
#include "os/os.h"
#include "sched/dump.h"
#include "sched/overflow_sig.h"
#include "sched/state.h"

namespace vole::rt::crash {
namespace {

constinit std::terminate_handler previous_terminate = nullptr;
constinit bool hook_installed = false;

void to_stderr(std::string_view text, void*) noexcept { write_stderr(text.data(), text.size()); }

void dump_everything() noexcept {
  to_stderr("\n", nullptr);
  dump::all(&to_stderr, nullptr);
}

_Unwind_Reason_Code print_frame(_Unwind_Context* context, void*) {
  const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (pc == 0) return _URC_END_OF_STACK;
  const auto* const inside = reinterpret_cast<const void*>(pc - 1);
  sentence s;
  s << "  ";
  dump::put_address(s, inside);
  Dl_info info;
  if (dladdr(inside, &info) != 0 && info.dli_sname != nullptr) s << "  " << info.dli_sname;
  s << "\n";
  s.print();
  return _URC_NO_REASON;
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
    s << (name != nullptr ? name : type->name());
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
  sentence s;
  s << "panic: ";
  put_exception(s);
  s.print();
  to_stderr("\n\n", nullptr);  // by itself: a long what() fills the sentence
  dump::one(*m->curg, &to_stderr, nullptr);
  _Unwind_Backtrace(&print_frame, nullptr);
  std::abort();
}

}  // namespace

void install() noexcept {
  if (!os::install_fault_handler(&stack_fault))
    fatal("cannot install the handler for stack overflows");
  if (!hook_installed) set_fatal_hook(&dump_everything);
  hook_installed = true;
  if (std::get_terminate() != &panic) previous_terminate = std::set_terminate(&panic);
}

void uninstall() noexcept {
  os::remove_fault_handler();
  if (std::get_terminate() == &panic) std::set_terminate(previous_terminate);
}

}  // namespace vole::rt::crash
