// Stands in for the commands of outside/ where vole was built without libdw.
#include <string>

#include "commands.h"

namespace vole_command {
namespace {

void add_absent(CLI::App& app, const std::string& name) {
  CLI::App* const command =
      app.add_subcommand(name, "Not in this vole: it was built without libdw");
  command->prefix_command();  // whatever the arguments are
  command->callback([name] {
    throw refusal("not in this vole: it was built without libdw (Debian's libdw-dev)");
  });
}

}  // namespace

void add_core(CLI::App& app, int&) { add_absent(app, "core"); }
void add_dump(CLI::App& app, int&) { add_absent(app, "dump"); }
void add_top(CLI::App& app, int&) { add_absent(app, "top"); }

}  // namespace vole_command
