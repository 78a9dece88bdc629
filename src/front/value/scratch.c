/* scratch.c - the part of a call's memory that comes from the heap: a list of blocks. */
#include "front/value/scratch.h"

#include <stdint.h>
#include <stdlib.h>

typedef struct ScratchBlock {
    struct ScratchBlock *next;
    _Alignas(16) char bytes[];
} ScratchBlock;

void *scratch_block(Scratch *s, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    ScratchBlock *block = malloc(sizeof *block + bytes);
    if (!block)
        return NULL;
    block->next = s->blocks;
    s->blocks = block;
    return block->bytes;
}

void scratch_end_blocks(ScratchBlock *blocks)
{
    while (blocks) {
        ScratchBlock *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}
