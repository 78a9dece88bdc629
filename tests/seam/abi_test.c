/* abi_test.c - pjrt.h against the ABI as measured: every field's offset and size, every struct's
 * size by both counts, every slot of the table with its kind of argument, every constant.
 * The expectations (abi.def) were made from the tables of facts, never from pjrt.h. */
#include "../check.h"

#include "pjrt/pjrt.h"

static int claims;

/* A claim that does not hold says what it was about and both numbers. */
static void same(const char *what, size_t actual, size_t expected)
{
    claims++;
    if (actual == expected)
        return;
    printf("%s: pjrt.h says %zu, the ABI is %zu\n", what, actual, expected);
    check_failures++;
}

/* 1 if the slot takes a pointer to these arguments. */
#define TAKES(name)                                                                                \
    _Generic(((PJRT_Api *)0)->PJRT_##name,                                                         \
        PJRT_Error * (*)(PJRT_##name##_Args *): 1,                                                 \
        void (*)(PJRT_##name##_Args *): 1,                                                         \
        default: 0)

int main(void)
{
    const size_t first_slot = offsetof(PJRT_Api, PJRT_Error_Destroy);
#define STRUCT(T, bytes) same("sizeof " #T, sizeof(T), bytes);
#define COUNTED(T, bytes) same(#T "_SIZE", T##_SIZE, bytes);
#define FIELD(T, field, offset, bytes)                                                             \
    same(#T "." #field " offset", offsetof(T, field), offset);                                     \
    same(#T "." #field " size", sizeof(((T *)0)->field), bytes);
#define SLOT(number, name, offset, bytes)                                                          \
    same("slot " #name, offsetof(PJRT_Api, PJRT_##name), offset);                                  \
    same("number of " #name, (offsetof(PJRT_Api, PJRT_##name) - first_slot) / 8, number);          \
    same("arguments of " #name, PJRT_##name##_Args_SIZE, bytes);                                   \
    same("type of " #name, TAKES(name), 1);
#define VALUE(name, number) same(#name, name, number);
#include "abi.def"
    CHECK(claims > 2500); /* the table was there and was looked at */
    return check_done();
}
