// expect: a number is not a duration: give it a unit, as in 5ms
#include <vole/vole.h>

int main() { vole::sleep_for(0); }
