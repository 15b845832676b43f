// See event.h.
#include "trace/event.h"

namespace vole_trace {

void event_reader::open_chunk() {
  const chunk& c = (*chunks_)[next_chunk_++];
  at_ = cursor(content_.data(), c.payload);
  left_ = c.events;
  ticks_ = c.ticks;
  last_g_ = 0;
  last_seq_ = 0;
  woken_g_ = woken_seq_ = 0;
}

bool event_reader::next(event& out) {
  while (at_.done()) {
    if (left_ != 0) {
      throw damaged("chunk " + std::to_string(next_chunk_ - 1) + " has " + std::to_string(left_) +
                    " events fewer than its header says");
    }
    if (next_chunk_ == chunks_->size()) return false;
    open_chunk();
  }
  position_ = at_.position();
  ++taken_;
  if (left_ == 0) {
    throw damaged("chunk " + std::to_string(next_chunk_ - 1) +
                  " has more events than its header says");
  }
  --left_;
  out.type = at_.byte();
  ticks_ += at_.varint();
  out.ticks = ticks_;
  arguments(out);
  return true;
}

std::uint64_t event_reader::goroutine() {
  last_g_ += static_cast<std::uint64_t>(at_.svarint());
  if (last_g_ >= std::uint64_t{1} << 53) throw damaged("a goroutine's id is too large");
  return last_g_;
}

std::uint64_t event_reader::some_goroutine() {
  if (goroutine() == 0) throw damaged("a goroutine's id is 0");
  return last_g_;
}

std::uint64_t event_reader::sequence() {
  last_seq_ += static_cast<std::uint64_t>(at_.svarint());
  return last_seq_;
}

void event_reader::woken(event& out) const {
  if (woken_g_ == 0) throw damaged("a goroutine is run as the one woken, but none was");
  out.g = woken_g_;
  out.seq = woken_seq_ + 1;
}

void event_reader::arguments(event& out) {
  switch (out.type) {
    case kGUnblock:
      out.g = woken_g_ = some_goroutine();
      out.seq = woken_seq_ = sequence();
      break;
    case kBlockRun: out.site = at_.varint(); [[fallthrough]];
    case kGRun:
    case kYieldRun:
    case kPreemptRun:
    case kEndRun:
      out.g = some_goroutine();
      out.seq = sequence();
      break;
    case kBlockWoken: out.site = at_.varint(); [[fallthrough]];
    case kYieldWoken:
    case kEndWoken: woken(out); break;
    case kGBlock:
    case kCallBegin: out.site = at_.varint(); break;
    case kGCreate:
      out.g = some_goroutine();
      out.fn = at_.varint();
      out.site = at_.varint();
      break;
    case kProcStart:
      out.p = at_.varint();
      out.acquisition = at_.varint();
      break;
    case kProcStop:
    case kGYield:
    case kGPreempt:
    case kGEnd:
    case kGRequeue:
    case kCallEnd:
    case kStopEnd: break;
    default: rare_arguments(out);
  }
}

void event_reader::rare_arguments(event& out) {
  switch (out.type) {
    case kDefSite:
      out.reason = at_.varint();
      out.pcs.clear();
      for (std::uint64_t n = at_.varint(); n > 0; --n) out.pcs.push_back(at_.varint());
      break;
    case kDefString: out.text = at_.string(); break;
    case kThreadFirst:
      out.p = at_.varint();
      out.acquisition = at_.varint();
      out.g = goroutine();
      out.state = at_.varint();
      break;
    case kGFirst:
      out.g = some_goroutine();
      for (std::uint64_t* to : {&out.state, &out.reason, &out.parent, &out.fn, &out.site}) {
        *to = at_.varint();
      }
      break;
    case kGName:
      out.g = some_goroutine();
      out.name = at_.varint();
      break;
    case kProcSteal:
      for (std::uint64_t* to : {&out.p, &out.acquisition, &out.thread, &out.events}) {
        *to = at_.varint();
      }
      break;
    case kStopBegin:
    case kRegionBegin:
    case kRegionEnd: out.name = at_.varint(); break;
    case kTaskBegin:
      out.task = at_.varint();
      out.parent = at_.varint();
      out.name = at_.varint();
      break;
    case kTaskEnd: out.task = at_.varint(); break;
    case kLog:
      out.task = at_.varint();
      out.name = at_.varint();
      out.text = at_.string();
      break;
    default:
      throw damaged("there is an event of type " + std::to_string(out.type) +
                    ", which version 1 does not have");
  }
}

}  // namespace vole_trace
