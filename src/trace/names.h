// Names for the program counters of traces: functions, files, lines, and the modules they are in.
//
// Who    want: threads that write events, inside the runtime. The rest: the writer.
// Where  want takes no lock and allocates nothing. look_up_all reads files, and takes its time.
// Note   when the table is full, further program counters stay without a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace vole::rt::trace::names {

void want(std::uintptr_t pc, bool is_function) noexcept;
void warm_up() noexcept;  // the first look takes longest
// Looks up all that have not been yet; stops after about most_ns. True: all are done.
bool look_up_all(std::int64_t most_ns);

// Payloads of chunks.
std::string modules();
std::string reasons();
std::size_t known() noexcept;  // how many have been looked up
// Puts about `most` bytes of names into `out`, from number `first` on. Returns where to go on; 0: that
// was all.
std::size_t symbols_from(std::size_t first, std::size_t most, std::string& out);

}  // namespace vole::rt::trace::names
