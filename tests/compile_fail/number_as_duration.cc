// expect: (no matching function|could not convert|no known conversion|cannot convert)
#include <vole/vole.h>

int main() { vole::sleep_for(0); }
