// What src/sync/waitable.cc defines, for models: an execution that is cut short destroys its objects
// under those who wait.
#pragma once

#include "sync/waitable.h"

inline void vole::detail::destroyed_while_used(const waitable&, const char*) noexcept {}
