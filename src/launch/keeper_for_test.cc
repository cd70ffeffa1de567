#include "launch/keeper.h"

// The keeper of programs that tests keep.
int main() { return tacho::RunKeeper(); }
