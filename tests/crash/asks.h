// Are running goroutines asked for their stacks in this build? ThreadSanitizer runs signal handlers
// when it suits it, so there nobody is.
#pragma once

namespace vole::crash_test {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kAsks = false;
#elif defined(__has_feature)
inline constexpr bool kAsks = !__has_feature(thread_sanitizer);
#else
inline constexpr bool kAsks = true;
#endif

}  // namespace vole::crash_test
