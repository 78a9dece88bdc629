/* none.c - a shared library that is no plugin: it has no GetPjrtApi. */
__attribute__((visibility("default"))) const int nothing;
