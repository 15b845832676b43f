// `vole version`: the version of the library that this command belongs to.
#include <vole/version.h>

#include <cstdio>

#include "commands.h"

namespace vole_command {

void add_version(CLI::App& app, int&) {
  CLI::App* const command = app.add_subcommand("version", "Print vole's version");
  command->callback([] {
    std::printf("vole %d.%d.%d\n", VOLE_VERSION / 10000, VOLE_VERSION / 100 % 100,
                VOLE_VERSION % 100);
  });
}

}  // namespace vole_command
