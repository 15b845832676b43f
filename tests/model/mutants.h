// How the model tests report: the shipped text must hold, each mutant must not.
//
// Who    tests/model/*_model.cc, outside of model threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "explore.h"

namespace model {

inline const char* coverage(const options& o, const outcome& r) {
  if (o.random != 0) return "random";
  if (!r.complete) return "cut by time";
  return o.preemptions < 0 ? "exhaustive" : "all within the preemption bound";
}

// VOLE_MODEL_SCALE=x: an exploration that its bounds do not end takes x times its seconds. `make test`
// has a quarter, `make test-dev` and `make test-all` all of it. Mutants have their time in any case.
inline double scale() {
  const char* const set = std::getenv("VOLE_MODEL_SCALE");
  return set == nullptr ? 1 : std::clamp(std::atof(set), 0.01, 100.0);
}

template <class Program, class... Args>
void holds(const char* what, options o, Args... args) {
  o.seconds *= scale();
  const outcome r = explore<Program>(o, args...);
  std::printf("%-44s %9llu executions (%llu redundant), %s", what,
              static_cast<unsigned long long>(r.executions),
              static_cast<unsigned long long>(r.redundant), coverage(o, r));
  if (o.preemptions >= 0) std::printf(", preemptions <= %d", o.preemptions);
  if (o.random != 0) std::printf(", seed %llu", static_cast<unsigned long long>(o.seed));
  std::printf(", %.1f s\n", r.seconds);
  EXPECT_FALSE(r.caught) << what << ": " << r.what << "\n" << r.interleaving;
}

// Looks with few preemptions first: most faults need one or two.
template <class Program, class... Args>
outcome hunt(options o, Args... args) {
  outcome all;
  for (const int bound : {0, 1, 2, 3, -1}) {
    o.preemptions = bound;
    const outcome r = explore<Program>(o, args...);
    all.executions += r.executions;
    all.seconds += r.seconds;
    if (!r.caught) continue;
    all.caught = true;
    all.what = r.what;
    all.interleaving = r.interleaving;
    break;
  }
  return all;
}

template <class Program, class... Args>
void catches(const char* mutant, const options& o, Args... args) {
  const outcome r = hunt<Program>(o, args...);
  std::printf("mutant %-37s %s after %llu executions", mutant, r.caught ? "caught" : "MISSED",
              static_cast<unsigned long long>(r.executions));
  std::printf(r.caught ? ": %s\n" : "%s\n", r.what.c_str());
  EXPECT_TRUE(r.caught) << mutant;
}

}  // namespace model
