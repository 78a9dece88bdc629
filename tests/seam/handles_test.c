/* handles_test.c - whatever a function of the table is given instead of its handles, it says so: NULL,
 * a handle of another kind, one that is gone, a struct that is too short, lists that are not there.
 * Links the engine. */
#include "tests/seam/execute.h"

/* Room for the arguments of any function. */
typedef union Arguments {
    struct {
        PJRT_HEAD;
        const void *first; /* nearly always the handle that the function is about */
    };
    char bytes[1024];
} Arguments;

typedef PJRT_Error *Function(void *args);

typedef struct Slot {
    const char *name;
    Function *f;
    size_t bytes;
} Slot;

static Slot slots[200];
static int nslots;

static void list_slots(void)
{
#define FUNCTION(name)                                                                             \
    slots[nslots++] = (Slot){ #name, (Function *)api->PJRT_##name, PJRT_##name##_Args_SIZE };
#define PROCEDURE(name)
#include "pjrt/functions.def"
}

static int ncalls;

/* Calls it; the message.  What it made, if it can do without handles, is ended. */
static const char *call(const Slot *slot, Arguments *args, bool keeps)
{
    ncalls++;
    const char *message = message_of(slot->f(args));
    if (*message || keeps)
        return message;
    if (!strcmp(slot->name, "Client_Create")) {
        PJRT_Client_Destroy_Args end =
            ARGS(Client_Destroy, .client = ((PJRT_Client_Create_Args *)args)->client);
        OK(api->PJRT_Client_Destroy(&end));
    } else if (!strcmp(slot->name, "Event_Create")) {
        PJRT_Event_Destroy_Args end =
            ARGS(Event_Destroy, .event = ((PJRT_Event_Create_Args *)args)->event);
        OK(api->PJRT_Event_Destroy(&end));
    } else if (!strcmp(slot->name, "ExecuteContext_Create")) {
        PJRT_ExecuteContext_Destroy_Args end = ARGS(
            ExecuteContext_Destroy, .context = ((PJRT_ExecuteContext_Create_Args *)args)->context);
        OK(api->PJRT_ExecuteContext_Destroy(&end));
    }
    return "";
}

/* Does a message begin with the function's name? */
static bool names_it(const char *message, const Slot *slot)
{
    size_t n = strlen(slot->name);
    return !strncmp(message, slot->name, n) && message[n] == ':';
}

/* Every function: no arguments at all, and a struct of nothing, of every length. */
static void check_nothing(void)
{
    for (int i = 0; i < nslots; i++) {
        char expected[200];
        snprintf(expected, sizeof expected, "%s: args is NULL", slots[i].name);
        CHECK_STR(call(&slots[i], NULL, true), expected);
        for (size_t bytes = 0; bytes <= slots[i].bytes; bytes += 4) {
            Arguments args = { .struct_size = bytes };
            call(&slots[i], &args, false);
        }
    }
    PJRT_Error_Destroy_Args no_error = ARGS(Error_Destroy, .error = NULL);
    PJRT_Error_Message_Args no_message = ARGS(Error_Message, .error = NULL);
    api->PJRT_Error_Destroy(NULL);
    api->PJRT_Error_Message(NULL);
    api->PJRT_Error_Destroy(&no_error);
    api->PJRT_Error_Message(&no_message);
}

/* Every function: its first field is a handle of another kind, or one that is gone.  A function
 * accepts it only if it takes that kind, and the handle is alive. */
static void check_handle(const void *handle, const char *family)
{
    int nright = 0;
    for (int i = 0; i < nslots; i++) {
        bool is_own = family && !strncmp(slots[i].name, family, strlen(family));
        /* whose first field is an address of the caller's, or which take whatever they get */
        bool takes_any = !strcmp(slots[i].name, "Client_Create") || slots[i].bytes <= 16 ||
                         strstr(slots[i].name, "_Create") || strstr(slots[i].name, "Tracking");
        if (is_own || takes_any)
            continue;
        Arguments args = { .struct_size = slots[i].bytes, .first = handle };
        const char *message = call(&slots[i], &args, true);
        bool is_refused = strstr(message, "not supported: PJRT_");
        bool has_no_handle = !strcmp(slots[i].name, "Plugin_Attributes") ||
                             !strcmp(slots[i].name, "TopologyDescription_Destroy") ||
                             !strncmp(slots[i].name, "Error_", 6);
        if (!is_refused && !has_no_handle && !names_it(message, &slots[i])) {
            printf("%s of %s: '%s'\n", slots[i].name, family ? family : "what is gone", message);
            check_failures++;
        }
        nright += names_it(message, &slots[i]);
    }
    CHECK(nright > 50);
}

static void check_messages(void)
{
    PJRT_Buffer_Device_Args device = ARGS(Buffer_Device, .buffer = NULL);
    CHECK_STR(message_of(api->PJRT_Buffer_Device(&device)),
              "Buffer_Device: buffer is NULL; it must be a PJRT_Buffer");
    float x = 1;
    PJRT_Buffer *buffer = send(0, 1, &x);
    release(buffer);
    PJRT_Buffer_Device_Args gone = ARGS(Buffer_Device, .buffer = buffer);
    CHECK_STR(message_of(api->PJRT_Buffer_Device(&gone)),
              "Buffer_Device: buffer is no PJRT_Buffer: it was destroyed, or never was one");
    PJRT_Event_OnReady_Args on = ARGS(Event_OnReady, .event = NULL);
    CHECK_STR(message_of(api->PJRT_Event_OnReady(&on)),
              "Event_OnReady: event is NULL; it must be a PJRT_Event");
    PJRT_Client_BufferFromHostBuffer_Args from =
        ARGS(Client_BufferFromHostBuffer, .client = client, .num_dims = 3, .data = &x);
    CHECK_STR(message_of(api->PJRT_Client_BufferFromHostBuffer(&from)),
              "Client_BufferFromHostBuffer: dims is NULL, and there are to be 3 of them");
}

/* Lists in lists, of a program that takes one array and gives one. */
static void check_execute(void)
{
    PJRT_LoadedExecutable *loaded =
        load("func.func public @main(%x: tensor<1xf32>) -> tensor<1xf32> {\n"
             "%y = stablehlo.add %x, %x : tensor<1xf32>\nreturn %y : tensor<1xf32>\n}\n");
    float x = 1;
    PJRT_Buffer *in = send(0, 1, &x), *out = NULL, **outs = &out, **no_outs = NULL;
    PJRT_Buffer *const *ins = &in, *const *no_ins = NULL;
    PJRT_Buffer *missing = NULL, *gone = send(0, 1, &x);
    release(gone);
    PJRT_Buffer *const *missings = &missing, *const *gones = &gone;
    PJRT_ExecuteOptions indices = { .struct_size = PJRT_ExecuteOptions_SIZE,
                                    .num_non_donatable_input_indices = 2 };
    const struct {
        PJRT_Buffer *const *const *ins;
        PJRT_Buffer **const *outs;
        size_t ndevices, nargs;
        PJRT_ExecuteOptions *options;
        const char *message;
    } cases[] = {
        { NULL, &outs, 1, 1, NULL,
          "LoadedExecutable_Execute: argument_lists is NULL, and there are to be 1 of them" },
        { &no_ins, &outs, 1, 1, NULL, "Execute: the argument list of device 0 is NULL" },
        { &ins, NULL, 1, 1, NULL, "Execute: output_lists is NULL, and there are 1 results" },
        { &ins, &no_outs, 1, 1, NULL, "Execute: the output list of device 0 is NULL" },
        { &ins, &outs, 1, 1, &indices,
          "Execute: non_donatable_input_indices is NULL, and there "
          "are to be 2 of them" },
        { &missings, &outs, 1, 1, NULL, "main: argument 0 on device 0 is missing; it takes 1" },
        { &gones, &outs, 1, 1, NULL,
          "main: argument 0 on device 0 is no PJRT_Buffer: it was "
          "destroyed, or never was one" },
        { &ins, &outs, 9, 1, NULL, "Execute: 9 lists of arguments for 1 devices" },
        { &ins, &outs, 1, (size_t)-1, NULL,
          "Execute: 18446744073709551615 arguments for a program that takes 1" },
        { &ins, &outs, 1, 1, NULL, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PJRT_LoadedExecutable_Execute_Args args =
            ARGS(LoadedExecutable_Execute, .executable = loaded, .options = cases[i].options,
                 .argument_lists = cases[i].ins, .num_devices = cases[i].ndevices,
                 .num_args = cases[i].nargs, .output_lists = cases[i].outs);
        CHECK_STR(message_of(api->PJRT_LoadedExecutable_Execute(&args)), cases[i].message);
    }
    release(in);
    release(out);
    unload(loaded);
}

/* What belongs to a client that is gone. */
static void check_after_client(void)
{
    float x = 1;
    PJRT_Buffer *buffer = send(0, 1, &x);
    PJRT_Client_LookupDevice_Args at = ARGS(Client_LookupDevice, .client = client, .id = 0);
    OK(api->PJRT_Client_LookupDevice(&at));
    client_end();
    CHECK_STR(message_of(api->PJRT_Client_LookupDevice(&at)),
              "Client_LookupDevice: client is no PJRT_Client: it was destroyed, or never was one");
    PJRT_Client_Destroy_Args again = ARGS(Client_Destroy, .client = client);
    CHECK_STR(message_of(api->PJRT_Client_Destroy(&again)),
              "Client_Destroy: client is no PJRT_Client: it was destroyed, or never was one");
    PJRT_Device_MemoryStats_Args stats = ARGS(Device_MemoryStats, .device = at.device);
    CHECK_STR(message_of(api->PJRT_Device_MemoryStats(&stats)),
              "Device_MemoryStats: device is no PJRT_Device: it was destroyed, or never was one");
    PJRT_Buffer_Device_Args device = ARGS(Buffer_Device, .buffer = buffer);
    CHECK_STR(message_of(api->PJRT_Buffer_Device(&device)),
              "Buffer_Device: the client of buffer has been destroyed");
    release(buffer); /* that is still allowed */
}

int main(void)
{
    client_start("2");
    list_slots();
    check_nothing();
    check_messages();
    check_execute();
    PJRT_Event_Create_Args event = ARGS(Event_Create, .event = NULL);
    OK(api->PJRT_Event_Create(&event));
    float x = 1;
    PJRT_Buffer *buffer = send(0, 1, &x);
    check_handle(event.event, "Event_");
    check_handle(buffer, "Buffer_");
    PJRT_Event_Destroy_Args end = ARGS(Event_Destroy, .event = event.event);
    OK(api->PJRT_Event_Destroy(&end));
    release(buffer);
    check_handle(event.event, NULL);
    check_handle(buffer, NULL);
    static const char never[64] = "this never was a handle";
    check_handle(never, NULL);
    CHECK(ncalls > 1104);
    check_after_client();
    return check_done();
}
