// The root: where a look from outside finds everything in a process or a core file.
//
// Who    `vole dump`, `vole top`, `vole core` and the gdb script, by an ELF note; they read it in
//        the memory of a program that does not help them. Nothing in the library reads it.
// Where  plain data, the same in every build of one processor; includes nothing of vole.
// Law    `version` changes whenever a field here changes its place or its meaning. New fields are
//        added at the end; `bytes` says how far this program's root goes.
// Note   the note (note.S) is allocated, so it survives strip. Its name is "vole", its type 1, and
//        its content the distance from there to the root: one signed 64-bit number.
// Proof  src/root/root_test.cc, tests/tools
#pragma once

#include <cstdint>

namespace vole::root {

inline constexpr std::uint32_t kVersion = 1;
inline constexpr char kMagic[8] = {'v', 'o', 'l', 'e', 'r', 'o', 'o', 't'};
inline constexpr char kNoteName[] = "vole";
inline constexpr std::uint32_t kNoteType = 1;

inline constexpr unsigned kStatuses = 8, kStatusBytes = 16;
inline constexpr unsigned kMostReasons = 64, kReasonBytes = 32;
inline constexpr unsigned kMostRegisters = 33;
inline constexpr std::uint16_t kNotSaved = 0xffff;

// All numbers below are offsets in bytes, unless they say otherwise.

// Records lie in chunks: a header, then `used` records of `record_bytes` each. Both are 64 bits.
struct slab_places {
  std::uint32_t record_bytes, first;  // in the slab
  std::uint32_t next, used;           // in a chunk; next: 64 bits
  std::uint32_t records;              // in a chunk: where they begin
  std::uint32_t largest;              // bytes: no chunk is larger
};

struct g_places {
  std::uint32_t bytes;        // of a record
  std::uint32_t status, why;  // 8 bits
  std::uint32_t flags;        // 8 bits
  std::uint32_t started_flag,
      locked_flag;                      // masks for `flags`: has a stack; has a thread of its own
  std::uint32_t sp, waiting_since;      // 64 bits; ns of CLOCK_MONOTONIC
  std::uint32_t stack_lo, stack_bytes;  // 64 and 32 bits
  std::uint32_t object;                 // 64 bits: what it waits on, or 0
  std::uint32_t id, parent, created_at, invoke;  // 64 bits
  std::uint32_t name;                            // 64 bits: the address of a name, or 0
  std::uint32_t name_text, name_bytes;           // in a name: its text, and how long that may be
};

struct m_places {
  std::uint32_t bytes;
  std::uint32_t in_rt;                     // 32 bits: it is inside the runtime
  std::uint32_t hot_p, p, curg, locked_g;  // 64 bits
  std::uint32_t call;  // 64 bits; lower half: P::schedtick + 1 while in blocking()
  std::uint32_t alive, idle, polling, spinning, zombie;  // 8 bits
  std::uint32_t captured;                  // 32 bits: asleep in the handler of strict mode
  std::uint32_t alternate_stack, id, tid;  // 64 bits
};

struct p_places {
  std::uint32_t bytes;
  std::uint32_t id;                      // 32 bits
  std::uint32_t status;                  // 8 bits: idle, running, stopped, dead
  std::uint32_t m, runnext, ready_next;  // 64 bits
  std::uint32_t front, back;             // 32 bits: the ring holds back - front
  std::uint32_t schedtick;               // 32 bits
  std::uint32_t switches, spawned, finished, steals, stolen, overflows, hand_offs, preemptions,
      evictions;  // 64 bits: counts
};

struct sched_places {
  std::uint32_t bytes;
  std::uint32_t all;                // an array of pointers to Ps, null from the first unused on
  std::uint32_t most_procs;         // its length
  std::uint32_t procs, idle_procs;  // 32 bits
  std::uint32_t spinning;           // 32 bits
  std::uint32_t global_queue;       // 64 bits: its length
  std::uint32_t m_count, zombies, evicted, captured_ms;  // 32 bits
  std::uint32_t guest_spawned, coarse_now;               // 64 bits
};

// Where to find what a goroutine waits for. Zeros: this program's root does not say.
struct waited_places {
  std::uint32_t callable;           // in a G, 64 bits: what its function begins with
  std::uint32_t lock_word, locker;  // in a mutex, 64 bits each; locker: an address on the stack of
                                    // the party that locked it last
  std::uint32_t lock_held;          // a mask for lock_word: somebody has it alone
  std::uint32_t joined_at;  // from what a joined goroutine's callable points at to the object
  std::uint32_t select_cases, select_count;  // in a select's object, 64 bits each
  std::uint32_t case_bytes, case_channel;    // of a case; in it, 64 bits
};

struct table {
  char magic[8];
  std::uint32_t version, bytes;
  std::uint16_t machine;  // as in an ELF header
  std::uint16_t pointer_bytes;
  std::uint32_t release;  // VOLE_VERSION

  const void *g_slab, *m_slab, *p_slab, *sched;
  void (*land)() noexcept;   // a parked goroutine: as if its thread stood here, with G::sp
  void (*start)() noexcept;  // the outermost function of every goroutine
  const char* sources;       // the folder of vole's sources, as the compiler knew it
  const void* note;

  slab_places slab;
  g_places g;
  m_places m;
  p_places p;
  sched_places sched_at;

  // The frame of a departed goroutine at G::sp: for each DWARF register its offset, or kNotSaved.
  // x86-64: 16 is the return address. arm64: 30 is. The stack pointer afterwards: sp + frame_bytes.
  std::uint16_t frame_bytes, frame_at[kMostRegisters];

  std::uint32_t reasons;  // so many
  char status_names[kStatuses][kStatusBytes];
  char reason_names[kMostReasons][kReasonBytes];

  waited_places waited;
};

static_assert(sizeof(void*) == 8);

}  // namespace vole::root

extern "C" [[gnu::visibility("hidden")]] const vole::root::table vole_root;
extern "C" [[gnu::visibility("hidden")]] const char vole_root_note[];
