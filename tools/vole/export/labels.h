// What the exports call goroutines and states.
#pragma once

#include <string>

#include "trace/history.h"

namespace vole_command {

// "work(int) 7", or "work(int) 7 (the worker)".
inline std::string label_of(const vole_trace::trace_file& file, const vole_trace::history& h,
                            const vole_trace::goroutine& g) {
  std::string label = vole_trace::function_of(file, h, g.fn) + " " + std::to_string(g.id);
  if (!g.name.empty()) label += " (" + std::string(g.name) + ")";
  return label;
}

// What a goroutine does meanwhile: its wait's reason, or the state.
inline std::string label_of(const vole_trace::trace_file& file, const vole_trace::history& h,
                            const vole_trace::span& x) {
  static constexpr const char* kNames[] = {"runnable", "running",   "waiting", "in a call",
                                           "evicted",  "preempted", "unknown"};
  if (x.what == vole_trace::state::waiting) {
    const std::string reason = vole_trace::reason_of(file, h.places.reason(x.place));
    if (!reason.empty()) return reason;
  }
  return kNames[static_cast<std::size_t>(x.what)];
}

}  // namespace vole_command
