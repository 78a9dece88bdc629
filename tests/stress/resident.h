/* resident.h - how much memory the process holds. */
#ifndef TUTTI_TESTS_STRESS_RESIDENT_H
#define TUTTI_TESTS_STRESS_RESIDENT_H
#include <stdio.h>
#include <unistd.h>

static inline long resident(void) /* bytes */
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}
#endif
