/* unload.c - dlclose of the plugin: what the engine has kept for programs to come goes with it.
 *
 * The caller has ended its clients, so none of our threads is left.  At the end of the process
 * there may be some, in the middle of anything; nothing is freed then.  The two are told apart by
 * their order: exit() calls what atexit was given, and then the destructors of libraries; dlclose
 * calls the destructors first. */
#include "engine/custom_call.h"
#include "engine/link/link.h"
#include "engine/memory/handle.h"
#include "engine/memory/thread_memory.h"
#include "engine/numerics/fft.h"
#include "engine/plugin/plugin.h"
#include "engine/plugin/statics.h"
#include "engine/profile/record.h"

static bool is_exit;

static void note_exit(void)
{
    is_exit = true;
}

__attribute__((constructor)) static void watch_exit(void)
{
    is_exit = !at_exit(note_exit); /* no memory: it cannot be told, and nothing is freed */
}

__attribute__((destructor)) static void end(void)
{
    if (is_exit)
        return;
    environment_show();
    llvm_end();
    call_registry_end();
    layouts_end();
    fft_plans_end();
    record_unload();
    thread_memory_end();
    handle_pools_end();
    statics_destroy();
}
