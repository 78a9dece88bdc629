/* fields.c - the names of a tree's arrays, by what TT_STRUCT says of its type: "block[3].qkv.w". */
#include "front/value/fields.h"

#include "base/error.h"
#include "base/sync.h"
#include "base/text.h"
#include "front/value/library.h"
#include "front/value/memory.h"
#include "front/value/report.h"

#include <string.h>

static Lock lock;     /* guards the tables */
static Table structs; /* the name of a type -> const tt_fields * */
static Table names;   /* const tt_fields * -> const char *const *, interned */

int fields_leaves(const tt_fields *fields)
{
    int n = fields->n ? 0 : 1;
    for (int i = 0; i < fields->n; i++)
        n += fields->field[i].leaves;
    return n;
}

size_t fields_path(const tt_fields *fields, int leaf, char *at, size_t room)
{
    size_t used = 0;
    for (int i = 0; i < fields->n; i++) {
        const tt_field *f = &fields->field[i];
        if (leaf >= f->leaves) {
            leaf -= f->leaves;
            continue;
        }
        int each = fields_leaves(f->of);
        used += (size_t)snprintf(at, room, f->is_array ? "%s[%d]" : "%s", f->name, leaf / each);
        if (!f->of->n || used + 1 >= room)
            return used;
        at[used++] = '.';
        return used + fields_path(f->of, leaf % each, at + used, room - used);
    }
    at[0] = 0;
    return 0;
}

void tt_enlist_struct(const tt_fields *fields)
{
    PUBLIC;
    lock_take(&lock);
    Error *error = intern_put(&structs, fields->type, strlen(fields->type), fields);
    lock_give(&lock);
    if (error)
        report_error(error_in(error, "TT_STRUCT of %s", fields->type));
}

const tt_fields *fields_of(const char *type, size_t n)
{
    uint64_t found = 0;
    lock_take(&lock);
    table_get(&structs, type, n, &found);
    lock_give(&lock);
    return (const tt_fields *)(uintptr_t)found;
}

enum { MOST_NAMES = 4096, PATH_ROOM = 256 };

/* NULL: reported. */
static const char *const *make_names(const tt_fields *fields)
{
    const char *list[MOST_NAMES + 1];
    char path[PATH_ROOM];
    int n = fields_leaves(fields);
    if (n > MOST_NAMES)
        return report_broken("TT_NAMES(%s): it has %d arrays; at most %d have names", fields->type,
                             n, MOST_NAMES),
               NULL;
    for (int i = 0; i < n; i++) {
        fields_path(fields, i, path, sizeof path);
        if (!(list[i] = intern_string(path)))
            return NULL;
    }
    list[n] = NULL;
    return intern_bytes(list, sizeof *list * (size_t)(n + 1));
}

const char *const *tt_names_of(const tt_fields *fields)
{
    PUBLIC;
    static const char *const none[MOST_NAMES];
    uint64_t found = 0;
    lock_take(&lock);
    table_get(&names, &fields, sizeof fields, &found);
    lock_give(&lock);
    if (found)
        return (const char *const *)(uintptr_t)found;
    const char *const *made = make_names(fields);
    if (!made)
        return none;
    lock_take(&lock);
    Error *error = intern_put(&names, &fields, sizeof fields, made);
    lock_give(&lock);
    if (error)
        report_error(error);
    return made;
}
