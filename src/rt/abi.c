/* abi.c - the symbol that names what objects and this library agree on: the layout of their tables
 * (the Makefile has it from the headers that say so). */
extern const char TUTTI_RT_ABI[];
__attribute__((visibility("default"))) const char TUTTI_RT_ABI[1] = { 0 };
