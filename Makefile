# Tutti: the whole build.  `make run` shows the lesson, `make test` proves it.
SHELL := /bin/bash
LLVM_CONFIG ?= llvm-config-19
BUILD ?= build
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wmissing-prototypes -Wstrict-prototypes
ifdef CI
WARN += -Werror
endif
ALL_CFLAGS := -std=gnu17 $(CFLAGS) $(WARN) -fvisibility=hidden -fPIC -pthread -Isrc $(EXTRA)

SHARED := $(wildcard src/base/*.c src/ops/*.c src/hlo/*.c src/hlo/read/*.c)
ENGINE := $(shell find src/engine -name '*.c')
CLI := $(wildcard cli/*.c)
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
SHARED_OBJ := $(call obj,$(SHARED))
ENGINE_OBJ := $(call obj,$(ENGINE))

PLUGIN := $(BUILD)/pjrt_plugin_tutti.so
TUTTI := $(BUILD)/tutti

.PHONY: all
all: $(PLUGIN) $(TUTTI)

$(BUILD)/obj/src/engine/emit/%.o $(BUILD)/obj/src/engine/rules/%.o: EXTRA_INC = $(shell $(LLVM_CONFIG) --cflags)
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) $(EXTRA_INC) -MMD -MP -c $< -o $@

LLVM_LIBS = $(shell $(LLVM_CONFIG) --link-static --libs x86 orcjit passes native) $(shell $(LLVM_CONFIG) --ldflags)
$(PLUGIN): $(ENGINE_OBJ) $(SHARED_OBJ) src/engine/plugin/exports.map
	$(CXX) $(CFLAGS) $(EXTRA) -shared -o $@ $(ENGINE_OBJ) $(SHARED_OBJ) -Wl,--version-script=src/engine/plugin/exports.map \
	    -Wl,--gc-sections -Wl,-z,defs $(LLVM_LIBS) -lz -lzstd -lm -ldl -pthread -static-libstdc++ -static-libgcc

$(TUTTI): $(call obj,$(CLI)) $(SHARED_OBJ)
	$(CC) $(CFLAGS) $(EXTRA) -o $@ $^ -lm -ldl -pthread

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

.PHONY: clean
clean:
	rm -rf $(BUILD)
