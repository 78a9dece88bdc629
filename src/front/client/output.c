/* output.c - several processes run the same program (mpirun) and would print the same: the first does.
 *
 * Before main, since a program prints before it asks for devices too.  TUTTI_PRINT=all lets every
 * process print; TUTTI_HOSTS=0 says that each is on its own. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

static bool says(const char *variable, const char *word)
{
    const char *text = getenv(variable);
    return text && strcmp(text, word) == 0;
}

__attribute__((constructor)) static void silence_others(void)
{
    bool is_other = (number_in("OMPI_COMM_WORLD_SIZE") > 1 && number_in("OMPI_COMM_WORLD_RANK")) ||
                    (number_in("PMI_SIZE") > 1 && number_in("PMI_RANK"));
    if (!is_other || says("TUTTI_PRINT", "all") || says("TUTTI_HOSTS", "0"))
        return;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDOUT_FILENO);
    close(nowhere);
}
