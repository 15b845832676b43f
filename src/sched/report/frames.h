// The lines that a dump prints for a return address.
//
// Who    dumps and panics, one at a time each.
// Where  user context, or a dying thread; the world runs. In a signal handler names stay as the
//        linker knows them: making them readable takes memory.
// Note   vole's own frames, and the standard library's between them and the user's function, are
//        left out: they are the same in every dump.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace vole::rt {

using text_sink = void (*)(std::string_view text, void* arg) noexcept;

class frame_texts {
 public:
  // `plain`: in a signal handler. `all`: nothing is left out.
  explicit frame_texts(bool plain, bool all = false) noexcept;
  ~frame_texts();
  frame_texts(const frame_texts&) = delete;
  frame_texts& operator=(const frame_texts&) = delete;

  // "function\n\tfile:line\n" for every function of a stack, the innermost first; "module+0x12\n" if
  // that is all that is known; nothing for what is left out. False: nothing of it was the user's.
  bool put_stack(const std::uintptr_t* frames, std::size_t n, text_sink out, void* arg) noexcept;
  // "function\n\tfile:line\n" of the innermost that is not left out.
  void put_call_site(std::uintptr_t return_address, text_sink out, void* arg) noexcept;
  // The function that a goroutine was given, as far as vole's wrapper tells; "module+0x12" if not.
  void put_function(std::uintptr_t wrapper, text_sink out, void* arg) noexcept;

 private:
  struct entry {
    std::uintptr_t pc;
    std::uint32_t first, size;
    bool is_wrapper;  // the text is the name of the function that vole's wrapper holds
  };
  struct room;
  const entry* entry_of(std::uintptr_t return_address) noexcept;

  bool plain_;
  bool all_;
  room* room_ =
      nullptr;  // what was looked up already; null: no memory, everything is looked up anew
};

}  // namespace vole::rt
