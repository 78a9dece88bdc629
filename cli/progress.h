/* progress.h - a line on the terminal while work takes longer than a second; on standard error, and
 * only where that is a terminal. */
#ifndef TUTTI_CLI_PROGRESS_H
#define TUTTI_CLI_PROGRESS_H

void progress_start(void); /* a second from now, what was said last is shown */
/* Over what it said last. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void progress_clear(void); /* makes room for other lines; what is said next is shown again */
void progress_end(void);
#endif
