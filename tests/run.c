/* run.c - the test runner.
 *
 *     run [-j N] [-t SECONDS] [-k WORD] program [program ...]
 *
 * Every test is a process of its own: a program that exits 0 when all holds.  N of them run
 * side by side; what a test prints is shown only when it fails.  A test that has used more than
 * SECONDS of processor time is killed, and so is one that has stood still for half as long: the
 * clock on the wall would count what others do on the machine.  The last line is `N passed,
 * M failed`, and the exit code says the same; none is no success. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };

typedef struct Test {
    const char *command; /* run by sh */
    pid_t pid;           /* 0: none in this slot */
    double started;
    double used, moved; /* seconds of processor time when it last had done something, and when */
    const char *killed; /* why; NULL: it was not */
    char output[32];    /* a temporary file */
} Test;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void start(Test *test, const char *command)
{
    *test = (Test){ .command = command, .started = now(), .moved = now() };
    strcpy(test->output, "/tmp/tutti-test-XXXXXX");
    int fd = mkstemp(test->output);
    if (fd < 0) {
        perror("no temporary file");
        exit(2);
    }
    test->pid = fork();
    if (test->pid == 0) {
        setpgid(0, 0); /* so that a late test is killed with its children */
        dup2(fd, 1);
        dup2(fd, 2);
        close(fd);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(fd);
}

static void show(const char *path)
{
    char line[4096];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        printf("    %s", line);
    if (file)
        fclose(file);
}

static bool finish(Test *test, int status)
{
    bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s  %5.1f s  %s\n", passed ? "ok  " : "FAIL", now() - test->started, test->command);
    if (!passed) {
        if (test->killed)
            printf("    %s\n", test->killed);
        else if (WIFSIGNALED(status))
            printf("    %s\n", strsignal(WTERMSIG(status)));
        show(test->output);
    }
    fflush(stdout);
    unlink(test->output);
    test->pid = 0;
    return passed;
}

/* Of a process, if it is of this group: its processor time and that of its children that ended. */
static double seconds_of(const char *pid, pid_t group)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = 0;
    const char *behind_name = strrchr(text, ')');
    int its_group = 0;
    long user = 0, system = 0, user_below = 0, system_below = 0;
    if (!behind_name ||
        sscanf(behind_name, ") %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld %ld %ld",
               &its_group, &user, &system, &user_below, &system_below) != 5)
        return 0;
    double ticks = (double)(user + system + user_below + system_below);
    return its_group == group ? ticks / (double)sysconf(_SC_CLK_TCK) : 0;
}

static double seconds_used(pid_t group)
{
    double seconds = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *entry; all && (entry = readdir(all));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            seconds += seconds_of(entry->d_name, group);
    if (all)
        closedir(all);
    return seconds;
}

static void kill_if_late(Test *test, double limit)
{
    double used = seconds_used(test->pid);
    if (used > test->used + 0.01 * (now() - test->moved)) {
        test->used = used;
        test->moved = now();
    }
    if (used > limit)
        test->killed = "has used too much processor time";
    else if (now() - test->moved > limit / 2)
        test->killed = "stands still";
    if (test->killed)
        kill(-test->pid, SIGKILL);
}

static void kill_late(Test *slots, int n, double limit)
{
    static double looked;
    if (now() - looked < 0.5)
        return;
    looked = now();
    for (int i = 0; i < n; i++)
        if (slots[i].pid && !slots[i].killed)
            kill_if_late(&slots[i], limit);
}

/* Waits for one test to end; its slot. */
static Test *wait_for_one(Test *slots, int n, double limit, int *status)
{
    for (;;) {
        pid_t pid = waitpid(-1, status, WNOHANG);
        for (int i = 0; pid > 0 && i < n; i++)
            if (slots[i].pid == pid)
                return &slots[i];
        kill_late(slots, n, limit);
        usleep(5000);
    }
}

int main(int argc, char **argv)
{
    int at_once = 2, passed = 0, failed = 0, running = 0, opt;
    double limit = 600;
    const char *word = "";
    while ((opt = getopt(argc, argv, "j:t:k:")) != -1)
        switch (opt) {
        case 'j': at_once = atoi(optarg); break;
        case 't': limit = atof(optarg); break;
        case 'k': word = optarg; break;
        default: return 2;
        }
    if (at_once < 1 || at_once > MOST)
        at_once = 2;
    Test slots[MOST] = { 0 };
    for (int next = optind; next < argc || running;) {
        while (next < argc && !strstr(argv[next], word))
            next++;
        if (next < argc && running < at_once) {
            int free_slot = 0;
            while (slots[free_slot].pid)
                free_slot++;
            start(&slots[free_slot], argv[next++]);
            running++;
        } else if (running) {
            int status;
            Test *test = wait_for_one(slots, at_once, limit, &status);
            *(finish(test, status) ? &passed : &failed) += 1;
            running--;
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    if (!passed && !failed)
        printf("no test's name holds '%s'\n", word);
    return failed || !passed ? 1 : 0;
}
