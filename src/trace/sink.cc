#include "trace/sink.h"

#include <cstring>

#include "base/fatal.h"
#include "os/os.h"
#include "trace/names.h"
#include "trace/pool.h"
#include "trace/shared.h"

namespace vole::rt::trace {
namespace {

constexpr std::uint32_t kLargeFile = 1024;  // chunks of one generation
constexpr std::size_t kNames = 256 * 1024;  // bytes of a chunk of names
constexpr std::size_t kSlotRoom = pool::kSlotBytes - sizeof(chunk_header);

void put_number(std::string& to, std::uint64_t n) {
  std::uint8_t bytes[kMostVarint];
  to.append(reinterpret_cast<const char*>(bytes),
            static_cast<std::size_t>(put_varint(bytes, n) - bytes));
}

void fill(chunk_header& h, chunk_kind kind, std::uint32_t generation, std::uint32_t number,
          const std::string& payload) noexcept {
  h.bytes.store(static_cast<std::uint32_t>(payload.size()), relaxed);
  h.generation = generation;
  h.thread = 0;
  h.kind = kind;
  h.zero = 0;
  h.number = number;
  h.before = h.ticks = 0;
  h.events.store(0, relaxed);
  h.crc = 0;
  h.magic.store(kChunkMagic, release);
}

// With its checksum. h: a copy, if the chunk is to stay as it is.
int write_chunk(int fd, chunk_header& h, const std::uint8_t* payload) noexcept {
  const std::uint32_t n = h.bytes.load(relaxed);
  h.crc = crc32(payload, n);
  return os::write_file(fd, &h, sizeof h, payload, n);
}

int write_header(int fd, std::uint32_t flags) noexcept {
  file_header h{};
  std::memcpy(h.magic, kFileMagic, sizeof kFileMagic);
  h.flags = flags;
  return os::write_file(fd, &h, sizeof h, nullptr, 0);
}

int write_text(int fd, chunk_kind kind, std::uint32_t number, const std::string& payload) noexcept {
  chunk_header h{};
  fill(h, kind, 0, number, payload);
  return write_chunk(fd, h, reinterpret_cast<const std::uint8_t*>(payload.data()));
}

int write_symbols(int fd, std::size_t* from, std::uint32_t* number) {
  std::string payload;
  int error = 0;
  while (error == 0 && *from < names::known()) {
    const std::size_t next = names::symbols_from(*from, kNames, payload);
    error = write_text(fd, chunk_kind::symbols, (*number)++, payload);
    *from = next != 0 ? next : names::known();
  }
  return error;
}

}  // namespace

moment this_moment() noexcept { return {scaled_ticks(), os::now_ns(), os::wall_ns()}; }

sink::sink(int fd, bool ring, std::int64_t window, std::uint64_t ticks_per_second)
    : fd_(fd), ring_(ring), window_(window), ticks_per_second_(ticks_per_second) {
  if (!ring_) put_header();
}

void sink::put_header() {
  error_ = write_header(fd_, os::is_plain_file(fd_) ? kUnfinished : 0);
  if (error_ == 0) error_ = write_text(fd_, chunk_kind::reasons, 0, names::reasons());
}

book& sink::book_of(std::uint32_t generation) {
  for (book& b : books_)
    if (b.generation == generation) return b;
  books_.emplace_back().generation = generation;
  return books_.back();
}

void sink::write(chunk_header& h, const std::uint8_t* payload) {
  if (error_ == 0) error_ = write_chunk(fd_, h, payload);
}

bool sink::put(chunk_kind kind, std::uint32_t generation, std::uint32_t number,
               const std::string& payload) {
  if (!ring_) {
    chunk_header h{};
    fill(h, kind, generation, number, payload);
    write(h, reinterpret_cast<const std::uint8_t*>(payload.data()));
    return true;
  }
  if (payload.size() > kSlotRoom) return false;
  chunk_header* const slot = kind == chunk_kind::listing ? pool::take() : pool::take_last();
  if (slot == nullptr) return false;
  std::memcpy(slot->payload(), payload.data(), payload.size());
  fill(*slot, kind, generation, number, payload);
  book_of(generation).kept.push_back(slot);
  return true;
}

void sink::begin(std::uint32_t generation, const moment& at, std::uint32_t procs) {
  make_room();
  book_of(generation);
  std::string payload;
  for (const std::uint64_t n :
       {at.ticks, static_cast<std::uint64_t>(at.mono), static_cast<std::uint64_t>(at.wall),
        ticks_per_second_, std::uint64_t{procs}, os::process_id()})
    put_number(payload, n);
  put(chunk_kind::begin, generation, 0, payload);
}

void sink::end(std::uint32_t generation, const moment& at, std::uint64_t lost) {
  book& b = book_of(generation);
  std::string payload;
  for (const std::uint64_t n :
       {at.ticks, static_cast<std::uint64_t>(at.mono), lost, std::uint64_t{b.threads.size()}})
    put_number(payload, n);
  for (const auto& [thread, count] : b.threads)
    for (const std::uint64_t n : {std::uint64_t{thread}, count.events, std::uint64_t{count.chunks}})
      put_number(payload, n);
  const bool is_whole = put(chunk_kind::end, generation, 0, payload);
  b.ended = at.mono;
  if (!ring_) return books_.pop_front();
  while (!is_whole && !books_.empty() && books_.front().generation <= generation) forget_oldest();
}

void sink::add(chunk_header* full) {
  book& b = book_of(full->generation);
  book::count& c = b.threads[full->thread];
  c.events += full->events.load(relaxed);
  ++c.chunks;
  ++b.chunks;
  if (ring_) return b.kept.push_back(full);
  write(*full, full->payload());
  pool::free(full);
}

void sink::add_listing(std::uint32_t generation, const std::string& payload) {
  make_room();
  if (!put(chunk_kind::listing, generation, book_of(generation).listings++, payload))
    shared.lost[shared.stamp.load(relaxed) >> 1 & 1].fetch_add(1, relaxed);
}

bool sink::is_large() const {
  if (books_.empty()) return false;
  const std::uint32_t enough = ring_ ? pool::slots() / 8 : kLargeFile;
  return books_.back().chunks >= enough;
}

// A quarter of the slots is kept for chunks that are being written.
void sink::make_room() {
  const std::int64_t old = os::now_ns() - window_;
  while (books_.size() > 1 && books_.front().ended != 0 &&
         (books_.front().ended < old || pool::left() < pool::slots() / 4))
    forget_oldest();
}

// The end first: a ring that is read while this goes on has no half of a generation.
void sink::forget_oldest() {
  book& b = books_.front();
  while (!b.kept.empty()) {
    pool::free(b.kept.back());
    b.kept.pop_back();
  }
  books_.pop_front();
}

void sink::write_names() {
  if (error_ == 0)
    error_ = write_text(fd_, chunk_kind::modules, module_chunks_++, names::modules());
  if (error_ == 0) error_ = write_symbols(fd_, &named_, &name_chunks_);
}

void sink::finish() {
  if (fd_ < 0) return;
  if (error_ == 0 && os::is_plain_file(fd_)) {
    const std::uint32_t flags = 0;
    error_ = os::rewrite_file(fd_, offsetof(file_header, flags), &flags, sizeof flags);
  }
  const int error = os::close_file(fd_);
  if (error_ == 0) error_ = error;
  fd_ = -1;
}

int sink::write_snapshot(const char* path) {
  int fd = -1;
  if (const int error = os::create_file(path, &fd)) return error;
  int error = write_header(fd, 0);
  if (error == 0) error = write_text(fd, chunk_kind::reasons, 0, names::reasons());
  for (const book& b : books_) {
    if (b.ended == 0) continue;
    for (chunk_header* const h : b.kept) {
      if (error != 0) break;
      chunk_header copy{};
      std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(h), sizeof copy);
      error = write_chunk(fd, copy, h->payload());
    }
  }
  std::size_t from = 0;
  std::uint32_t number = 0;
  if (error == 0) error = write_text(fd, chunk_kind::modules, 0, names::modules());
  if (error == 0) error = write_symbols(fd, &from, &number);
  const int closed = os::close_file(fd);
  return error != 0 ? error : closed;
}

}  // namespace vole::rt::trace
