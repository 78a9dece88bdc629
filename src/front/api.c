/* api.c - the functions of tutti.h about devices, in its order; each checks and hands on. */
#include "front/client.h"
#include "front/say.h"
#include "front/value.h"

static bool started(void)
{
    Error *error = client_need();
    if (error)
        say_error(error);
    return !error;
}

void tt_init_with(const tt_options *options)
{
    Error *error = client_options(options->plugin, options->devices);
    if (error)
        say_error(error);
    else
        started();
}

int tt_device_count(void)
{
    return started() ? client_device_count() : 0;
}

const char *tt_device_name(int device)
{
    if (!started())
        return "";
    if (device < 0 || device >= client_device_count()) {
        say_broken("tt_device_name: there is no device %d; the last of %d is %d", device,
                   client_device_count(), client_device_count() - 1);
        return "";
    }
    return client_device_name(device);
}
