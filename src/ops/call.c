/* call.c - the part of calls.def that both sides use: names, arity, roles. */
#include "ops/call.h"

#include <string.h>

const CallInfo call_info[CALL_COUNT] = {
#define CALL(id, name, nin, nout, effect, role, ...)                                               \
    [CALL_##id] = { name, nin, nout, EFFECT_##effect, ROLE_##role },
#include "ops/calls.def"
};

CallId call_find(Str target)
{
    int call = 0;
    while (call < CALL_COUNT && !str_is(target, call_info[call].name))
        call++;
    return (CallId)call;
}

bool call_takes(CallId call, int nin, int nout)
{
    const CallInfo *info = &call_info[call];
    return (info->nin == ANY || info->nin == nin) && (info->nout == ANY || info->nout == nout);
}

/* ---- LAPACK ---- */

enum { TYPES_REAL = 1, TYPES_COMPLEX = 2, TYPES_BOTH = TYPES_REAL | TYPES_COMPLEX };

static const struct {
    const char *name;
    int types;
    const char *signature;
} routines[LAPACK_CALL_COUNT] = {
#define LAPACK(id, name, types, signature, ...)                                                    \
    [LAPACK_CALL_##id] = { name, TYPES_##types, signature },
#include "ops/calls.def"
};

/* lapack_ + s, d, c or z + name + _ffi: the letter; 0: not that routine. */
static char type_letter(Str target, const char *name)
{
    static const char before[] = "lapack_", after[] = "_ffi";
    size_t n = strlen(name), head = strlen(before) + 1;
    bool is_it = target.n == head + n + strlen(after) &&
                 !memcmp(target.at, before, strlen(before)) && !memcmp(target.at + head, name, n) &&
                 !memcmp(target.at + head + n, after, strlen(after));
    return is_it ? target.at[head - 1] : 0;
}

void lapack_print_name(Text *out, LapackCall routine, Element a)
{
    text_printf(out, "lapack_%c%s_ffi", a == F64 ? 'd' : 's', routines[routine].name);
}

LapackCall lapack_find_routine(Str target, Element first, Element *a)
{
    static const struct {
        char letter;
        Element element;
        int types;
    } types[] = { { 's', F32, TYPES_REAL },
                  { 'd', F64, TYPES_REAL },
                  { 'c', C64, TYPES_COMPLEX },
                  { 'z', C128, TYPES_COMPLEX } };
    for (int id = 0; id < LAPACK_CALL_COUNT; id++) {
        bool is_whole = str_is(target, routines[id].name);
        char letter = is_whole ? 0 : type_letter(target, routines[id].name);
        for (int t = 0; (is_whole || letter) && t < 4; t++) {
            bool is_it = is_whole ? first == types[t].element : letter == types[t].letter;
            if (is_it && routines[id].types & types[t].types) {
                *a = types[t].element;
                return (LapackCall)id;
            }
        }
    }
    return LAPACK_CALL_COUNT;
}

int call_rank_of_one(Str target, Element first)
{
    CallId call = call_find(target);
    if (call == CALL_QR || call == CALL_HOUSEHOLDER)
        return 2;
    LapackCall routine = lapack_find_routine(target, first, &first);
    return routine == LAPACK_CALL_COUNT ? -1 : (int)strcspn(routines[routine].signature, " ") - 1;
}
