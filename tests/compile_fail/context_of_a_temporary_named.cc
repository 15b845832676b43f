// expect: its_cancel_function_is_gone
#include <vole/vole.h>

int main() { const vole::context ctx = vole::with_cancel(vole::context::background()).ctx; }
