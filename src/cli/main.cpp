// The cairn program.
#include "cli/command.h"

int main(int argc, char** argv) { return cairn::run_cli(argc, argv); }
