// The version, as one number: major * 10000 + minor * 100 + patch.
#pragma once

#define VOLE_VERSION 100  // 0.1.0
