#include "program.hpp"

int main(int argc, char** argv) {
  return ooc_run::run_program(argc, argv);
}
