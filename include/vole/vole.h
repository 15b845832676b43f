// All of vole. Or include one header per concept.
#pragma once

#include <vole/blocking.h>
#include <vole/chan.h>
#include <vole/context.h>
#include <vole/errors.h>
#include <vole/go.h>
#include <vole/group.h>
#include <vole/io.h>
#include <vole/net.h>
#include <vole/process.h>
#include <vole/runtime.h>
#include <vole/select.h>
#include <vole/signal.h>
#include <vole/sync.h>
#include <vole/time.h>
#include <vole/trace.h>
#include <vole/version.h>
