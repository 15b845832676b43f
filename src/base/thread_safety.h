// Which lock guards what, in words that clang checks (-Wthread-safety; preset clang). To other
// compilers they are nothing.
//
// Law    a field that only holders of a lock may touch says VOLE_GUARDED_BY; a function whose caller must
//        hold a lock says VOLE_REQUIRES, beside the suffix _locked.
// Note   VOLE_UNCHECKED is for what clang cannot follow, each time for a reason that stands there: a lock
//        that another function or a door frees, the protocols' Envs, whose callers are under a model.
//        Biased locks (base/biased_lock.h), which doors free, are unchecked as a whole.
#pragma once

#if defined(__clang__)
#define VOLE_THREAD_SAFETY(x) __attribute__((x))
#else
#define VOLE_THREAD_SAFETY(x)
#endif

#define VOLE_CAPABILITY(what) VOLE_THREAD_SAFETY(capability(what))
#define VOLE_SCOPED_CAPABILITY VOLE_THREAD_SAFETY(scoped_lockable)
#define VOLE_GUARDED_BY(lock) VOLE_THREAD_SAFETY(guarded_by(lock))
#define VOLE_ACQUIRE(...) VOLE_THREAD_SAFETY(acquire_capability(__VA_ARGS__))
#define VOLE_TRY_ACQUIRE(...) VOLE_THREAD_SAFETY(try_acquire_capability(__VA_ARGS__))
#define VOLE_RELEASE(...) VOLE_THREAD_SAFETY(release_capability(__VA_ARGS__))
#define VOLE_REQUIRES(...) VOLE_THREAD_SAFETY(requires_capability(__VA_ARGS__))
#define VOLE_UNCHECKED VOLE_THREAD_SAFETY(no_thread_safety_analysis)
