// Short names of functions, for tables. The viewer's are made by the same rules (tools/viewer/src/names.ts).
#pragma once

#include <string>

namespace vole_trace {

// Without parameters, arguments of templates and namespaces without a name: "serve(vole::net::conn)::{lambda#1}"
// is "serve::{lambda#1}". Where vole calls the user's function for it, the user's is named: of
// "vole::wait_group::done_after<main::{lambda#1}>" that is "main::{lambda#1}". Empty: the name does not
// tell what is called, as with a pointer to a function.
std::string short_function(const std::string& name);

}  // namespace vole_trace
