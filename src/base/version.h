/* version.h - which Tutti this is: the one place that says so.  The Makefile and python/setup.py read it. */
#ifndef TUTTI_BASE_VERSION_H
#define TUTTI_BASE_VERSION_H
#define TUTTI_VERSION "0.1.0"
#endif
