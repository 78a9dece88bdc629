/* event.c - events across the seam: the engine's Event is PJRT's. */
#include "engine/plugin/plugin.h"

#include <limits.h>

Error *pjrt_Event_Destroy(PJRT_Event_Destroy_Args *args)
{
    NEEDS(args, event);
    if (args->event && !event_take_back(args->event))
        return error_new(CODE_PRECONDITION, "Event_Destroy: the event has been destroyed before");
    return NULL;
}

Error *pjrt_Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    NEEDS(args, is_ready);
    args->is_ready = event_is_ready(args->event);
    return NULL;
}

Error *pjrt_Event_Error(PJRT_Event_Error_Args *args)
{
    NEEDS(args, event);
    if (!event_is_ready(args->event))
        return error_new(CODE_PRECONDITION,
                         "Event_Error: the event has not happened yet; await it first");
    return event_error(args->event);
}

Error *pjrt_Event_Await(PJRT_Event_Await_Args *args)
{
    NEEDS(args, event);
    event_await(args->event);
    return event_error(args->event);
}

Error *pjrt_Event_OnReady(PJRT_Event_OnReady_Args *args)
{
    NEEDS(args, user_arg);
    return event_on_ready(args->event, args->callback, args->user_arg);
}

Error *pjrt_Event_Create(PJRT_Event_Create_Args *args)
{
    NEEDS(args, event);
    args->event = event_new();
    if (!args->event)
        return error_new(CODE_EXHAUSTED, "Event_Create: no memory for an event");
    event_allow_set(event_give(args->event));
    return NULL;
}

Error *pjrt_Event_Set(PJRT_Event_Set_Args *args)
{
    NEEDS(args, error_message_size);
    if (!event_claim_set(args->event))
        return error_new(CODE_PRECONDITION, event_is_ready(args->event)
                                                ? "Event_Set: the event has happened before"
                                                : "Event_Set: the event is not the caller's own");
    Error *error = NULL;
    size_t n = args->error_message_size < INT_MAX ? args->error_message_size : INT_MAX;
    if (args->error_code != PJRT_Error_Code_OK)
        error = error_new((ErrorCode)args->error_code, "%.*s", (int)n, args->error_message);
    event_set(args->event, error);
    return NULL;
}
