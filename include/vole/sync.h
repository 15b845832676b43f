// Synchronisation. Each works on goroutines (parks them) and on plain threads (blocks them).
//
// For all of them: constructed at compile time where they are static, not movable, and nothing is
// allocated to wait. Once a call has released a waiter it no longer touches the object, so the
// waiter may destroy it. (concurrent_map and singleflight are containers made of them: they allocate,
// and must outlive their users.)
#pragma once

#include <vole/barrier.h>
#include <vole/concurrent_map.h>
#include <vole/condition_variable.h>
#include <vole/latch.h>
#include <vole/local.h>
#include <vole/mutex.h>
#include <vole/once.h>
#include <vole/pool.h>
#include <vole/semaphore.h>
#include <vole/shared_mutex.h>
#include <vole/singleflight.h>
#include <vole/wait_group.h>
