/* error.c - errors across the seam: base's Error, read by the table or by its first word. */
#include "engine/plugin/plugin.h"

#include <string.h>

static void message(const Error *error, const char **text, size_t *n)
{
    *text = error_text(error);
    *n = strlen(*text);
}

static PJRT_Error_Code code(const Error *error)
{
    return (PJRT_Error_Code)error_code(error);
}

/* Our errors are a code and a text; nothing hangs on them. */
static void visit_no_payload(const Error *error, PJRT_Error_PayloadVisitor visitor, void *user)
{
    (void)error, (void)visitor, (void)user;
}

static const PJRT_Error_FunctionTable functions = {
    .struct_size = PJRT_Error_FunctionTable_SIZE,
    .instance_size = sizeof(PJRT_Error_Start),
    .destroy = error_free,
    .message = message,
    .get_code = code,
    .for_each_payload = visit_no_payload,
};

/* Before a client can ask for the table, so that no error is without it. */
__attribute__((constructor)) static void give_errors_their_table(void)
{
    error_vtable = &functions;
}

void pjrt_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    if (args)
        error_free(args->error);
}

void pjrt_Error_Message(PJRT_Error_Message_Args *args)
{
    if (args && args->error)
        message(args->error, &args->message, &args->message_size);
}

Error *pjrt_Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    NEEDS(args, code);
    args->code = code(args->error);
    return NULL;
}

Error *pjrt_Error_ForEachPayload(PJRT_Error_ForEachPayload_Args *args)
{
    NEEDS(args, user_arg);
    visit_no_payload(args->error, args->visitor, args->user_arg);
    return NULL;
}
