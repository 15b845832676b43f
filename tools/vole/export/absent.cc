// In place of perfetto.cc and pprof.cc, where protozero is missing.
#include "export/export.h"
#include "refusal.h"

namespace vole_command {
namespace {

[[noreturn]] void refuse() {
  throw refusal("not in this vole: it was built without protozero (libprotozero-dev)");
}

}  // namespace

std::string perfetto_of(const vole_trace::trace_file&) { refuse(); }
std::string pprof_of(const vole_trace::trace_file&, const std::string&) { refuse(); }

}  // namespace vole_command
