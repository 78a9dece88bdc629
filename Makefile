# Tutti: the whole build.
#   make run     install what is missing, build, and show the lesson on four devices
#   make test    everything that must hold, JAX included
SHELL := /bin/bash
comma := ,
LLVM_CONFIG ?= llvm-config-19
FUZZ_CC ?= clang-19
PYTHON ?= python3
BUILD ?= build
CFLAGS ?= -O2 -g
JOBS ?= 2
WARN := -Wall -Wextra -Wvla -Wno-missing-field-initializers -Wshadow -Wconversion -Wno-sign-conversion -Wmissing-prototypes -Wstrict-prototypes
ifdef CI
WARN += -Werror
endif
ALL_CFLAGS := -std=gnu17 $(CFLAGS) $(WARN) -fvisibility=hidden -fPIC -pthread -Isrc -Iinclude -I. \
              -ffunction-sections -fdata-sections

# The hostile build (make hostile): memory that fails when it is told to, in every file of ours.
EXPORTS := src/engine/plugin/exports.map
ifdef HOSTILE
ALL_CFLAGS += -DTUTTI_HOSTILE -include tests/hostile/names.h
EXPORTS := tests/hostile/exports.map
HOSTILE_ENGINE := $(BUILD)/obj/tests/hostile/engine.o
HOSTILE_FRONT := $(BUILD)/obj/tests/hostile/front.o
endif
# What the engine puts in the place of the C library's functions, in itself (engine/link/llvm_memory.c,
# engine/plugin/statics.c, tests/hostile/memory.c).
WRAP := $(patsubst %,-Wl$(comma)--wrap=%,__cxa_atexit malloc calloc realloc $(if $(HOSTILE),aligned_alloc posix_memalign mmap))

SHARED := $(wildcard src/base/*.c src/ops/*.c src/files/*.c src/hlo/*.c src/hlo/define/*.c src/hlo/read/*.c src/pjrt/*.c)
SHIM := src/engine/hosts/shim_mpi.c
ENGINE := $(filter-out $(SHIM),$(shell find src/engine -name '*.c' -o -name '*.cpp'))
FRONT := $(shell find src/front -name '*.c')
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(patsubst %.cpp,$(BUILD)/obj/%.o,$(1)))
UNIT := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*_test.c tests/seam/*_test.c tests/stress/*_test.c tests/random/*_test.c tests/errors_c/*_test.c))
LESSONS := $(patsubst examples/%.c,$(BUILD)/examples/%,$(filter-out examples/exercise.c,$(wildcard examples/*.c examples/twelve/*.c))) \
           $(patsubst examples/%.cpp,$(BUILD)/examples/%_cpp,$(wildcard examples/*.cpp))
PLUGIN := $(BUILD)/pjrt_plugin_tutti.so
PLAYER := $(BUILD)/pjrt_plugin_tutti_rt.so
TUTTI := $(BUILD)/tutti
VENV := build/venv

.PHONY: all shims lib rt rt-tests lessons install man wheel deb run test unit hostile hostile-only check jax-test jax-version accuracy jax-suite jax-hosts xla-test bench bench-hosts bench-wide asan tsan fuzz soak soak-hlo soak-jax soak-sharded conformance aarch64 order format format-check docs pictures book size deps clean always
all: $(PLUGIN) $(PLAYER) $(TUTTI) $(BUILD)/libtutti.so shims rt

# What must be there to build: Debian's or Ubuntu's packages.
deps:
	@tools/deps.sh
# The front alone needs a C compiler and nothing else.
NEEDS := $(if $(filter-out lib install,$(or $(MAKECMDGOALS),all)),$(BUILD)/.deps)
$(BUILD)/.deps: tools/deps.sh
	@tools/deps.sh && mkdir -p $(BUILD) && touch $@

LLVM_CFLAGS = $(if $(SYSROOT),-isystem $(SYSROOT)/usr/include/llvm-19 -isystem $(SYSROOT)/usr/include/llvm-c-19,\
              $(shell $(LLVM_CONFIG) --cflags | tr ' ' '\n' | grep '^-I' | sed 's/^-I/-isystem /'))
# What the compiler makes code for.  For another machine (CC=aarch64-linux-gnu-gcc CXX=... CROSS=aarch64-linux-gnu-),
# SYSROOT has that machine's LLVM, zlib and zstd, as tools/cross/sysroot.sh lays them out.
MACHINE := $(shell $(CC) -dumpmachine | cut -d- -f1)
TARGETS := $(if $(filter aarch64,$(MACHINE)),aarch64,x86)
LLVM_LIBS = $(if $(SYSROOT),-L$(SYSROOT)/usr/lib/llvm-19/lib -L$(SYSROOT)/usr/lib/$(MACHINE)-linux-gnu) \
            $(shell $(LLVM_CONFIG) --link-static $(if $(SYSROOT),,--ldflags) --libs $(TARGETS) orcjit passes) -l:libz.a -l:libzstd.a
LINK = $(CXX) $(CFLAGS) -B$(shell $(LLVM_CONFIG) --bindir) -fuse-ld=lld -Wl,--gc-sections -pthread
LIBS = $(LLVM_LIBS) -lm -ldl -static-libstdc++ -static-libgcc

# Products of complex numbers without the detour for infinities; quotients that square nothing.
# dense.c, which compiled code calls too, keeps C's rules: infinities stay what they are.
$(call obj,$(filter-out %/dense.c,$(wildcard src/engine/numerics/linalg/*.c))): ALL_CFLAGS += -fcx-fortran-rules
FFT := $(call obj,$(wildcard src/engine/numerics/fft*.c))
# Loops that are worth vectors and unrolling, which -O2 does not make of them.
ifeq (,$(findstring -fsanitize,$(CFLAGS)))
$(BUILD)/obj/src/engine/numerics/sort_keys.o $(FFT) $(BUILD)/obj/src/engine/numerics/small_matrices.o \
  $(BUILD)/obj/src/engine/numerics/plain_reduce.o: ALL_CFLAGS += -O3
endif
# A square root of each lane is an instruction.  No product is joined to a sum, as in LAPACK's way with one matrix: the
# last bits are the same, however many there are.
$(BUILD)/obj/src/engine/numerics/small_matrices.o: ALL_CFLAGS += -fno-math-errno -ffp-contract=off
# No product is joined to a sum but where the text says so: the last bits of short lines are those of the field's other
# transforms.
$(FFT): ALL_CFLAGS += -ffp-contract=off
$(BUILD)/obj/src/engine/%.o: src/engine/%.c | $(BUILD)/.deps
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -MMD -MP -c $< -o $@
# What LLVM has no C for is C++, as LLVM itself is built.
$(BUILD)/obj/src/engine/%.o: src/engine/%.cpp | $(BUILD)/.deps
	@mkdir -p $(dir $@)
	$(CXX) -std=c++17 $(CFLAGS) -Wall -Wextra -Wshadow $(if $(CI),-Werror) -fno-exceptions -fno-rtti -fvisibility=hidden -fPIC -pthread \
	    -Isrc -ffunction-sections -fdata-sections $(LLVM_CFLAGS) -MMD -MP -c $< -o $@
$(BUILD)/obj/src/engine/profile/page.o: src/engine/profile/page.html
$(BUILD)/obj/src/front/%.o: ALL_CFLAGS += -DTT_NO_SUGAR
$(BUILD)/obj/%.o: %.c | $(NEEDS)
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/libengine.a: $(call obj,$(ENGINE)) $(call obj,$(SHARED))
	@rm -f $@
	$(CROSS)ar crs $@ $^
LINK_PLUGIN = $(LINK) -shared -o $@ -Wl,--whole-archive $(BUILD)/libengine.a -Wl,--no-whole-archive \
	    $(HOSTILE_ENGINE) $(WRAP) -Wl,--version-script=$(EXPORTS) -Wl,-z,defs -Wl,-z,pack-relative-relocs $(LIBS)
# The functions of LLVM that the lessons run lie side by side in the engine, so that a small program
# touches few pages of it (docs/design/2026-11-15-memory.md).
ORDER := $(if $(findstring -fsanitize,$(CFLAGS))$(HOSTILE),,tools/order/functions.txt)
$(PLUGIN): $(BUILD)/libengine.a $(EXPORTS) $(ORDER) $(HOSTILE_ENGINE)
	$(LINK_PLUGIN) -Wl,--no-warn-symbol-ordering $(ORDER:%=-Wl,--symbol-ordering-file=%)
# An engine without LLVM, for machines that only play what was compiled elsewhere.
PLAYED := $(filter-out $(addprefix src/engine/,codegen/% kernels/% link/% math/% ahead/% analysis/% passes/% compile.c),$(ENGINE)) \
          $(wildcard src/player/*.c) src/engine/link/evaluation.c src/engine/passes/refine.c src/engine/passes/place/params.c $(SHARED)
$(BUILD)/obj/src/player/%.o: src/player/%.c | $(BUILD)/.deps
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -MMD -MP -c $< -o $@
$(PLAYER): $(call obj,$(PLAYED)) src/engine/plugin/exports.map
	$(CC) $(CFLAGS) -shared -o $@ $(call obj,$(PLAYED)) -Wl,--gc-sections -Wl,--wrap=__cxa_atexit \
	    -Wl,--version-script=src/engine/plugin/exports.map -Wl,-z,defs -lm -ldl -pthread
# An engine that makes objects for aarch64 too (tutti compile --cpu aarch64).  It is apart because that takes 8 MB
# of file and 3 MB of every process.
$(BUILD)/obj/tools/cross/targets.o: tools/cross/targets.c
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -c $< -o $@
$(BUILD)/cross/pjrt_plugin_tutti.so: TARGETS := x86 aarch64
$(BUILD)/cross/pjrt_plugin_tutti.so: $(BUILD)/libengine.a $(EXPORTS) $(BUILD)/obj/tools/cross/targets.o
	@mkdir -p $(dir $@)
	$(LINK_PLUGIN) $(BUILD)/obj/tools/cross/targets.o
# The list of them, made anew: for another LLVM.  An engine with a tracer in it runs the lessons.
TRACED := $(BUILD)/order/pjrt_plugin_tutti.so
$(TRACED): $(BUILD)/libengine.a src/engine/plugin/exports.map $(BUILD)/obj/tools/order/trace.o
	@mkdir -p $(dir $@)
	$(LINK_PLUGIN) $(BUILD)/obj/tools/order/trace.o
order: $(TRACED) $(LESSONS)
	tools/order/order.sh $(TRACED) $(BUILD)/libengine.a tools/order/functions.txt $(LESSONS)
$(TUTTI): $(call obj,$(wildcard cli/*.c)) $(call obj,$(SHARED)) $(HOSTILE_FRONT)
	$(CC) $(CFLAGS) -o $@ $^ -lm -ldl -pthread

# What plays programs that were compiled ahead (tutti compile): the engine's runtime, no compiler and no
# reader in it.  A linker takes from the archive what a program names; its symbols all begin with
# tutti_rt_, whatever the sources call them, so that they clash with nobody's.  RT_ABI changes with every
# header that says how the data of an object lies.  For another machine (the engine compiles for it):
#   make rt BUILD=build/aarch64 CC=aarch64-linux-gnu-gcc CROSS=aarch64-linux-gnu-
RT := $(wildcard src/rt/*.c src/files/*.c src/engine/profile/track.c src/base/*.c src/ops/*.c src/engine/*.c src/hlo/module.c src/engine/memory/*.c src/engine/exec/*.c \
      src/engine/collectives/*.c src/engine/ffi/*.c src/engine/numerics/*.c src/engine/numerics/linalg/*.c src/engine/eval/*.c)
RT := $(filter-out src/engine/compile.c src/engine/source.c src/engine/exec/runtime.c src/engine/exec/cross%.c src/engine/collectives/cross.c,$(RT))
RT_ABI := tutti_rt_abi_$(shell cat src/base/text.h src/ops/*.h src/ops/*.def src/hlo/module.h src/engine/program.h \
          src/engine/order.h src/engine/tensor.h src/engine/routine.h src/engine/slices.h src/engine/numerics/numerics.h | sha256sum | cut -c1-12)
$(shell mkdir -p $(BUILD); echo $(RT_ABI) | cmp -s - $(BUILD)/rt_abi || echo $(RT_ABI) > $(BUILD)/rt_abi)
RT_ABI_USERS := $(BUILD)/obj/src/engine/ahead/program_data.o $(BUILD)/obj/src/player/no_compiler.o $(BUILD)/obj/src/rt/abi.o
$(RT_ABI_USERS): ALL_CFLAGS += -DTUTTI_RT_ABI=$(RT_ABI)
$(RT_ABI_USERS): $(BUILD)/rt_abi
rt: $(BUILD)/libtutti_rt.a $(BUILD)/libtutti_rt.so
$(BUILD)/libtutti_rt.a: $(call obj,$(RT))
	@rm -f $@
	$(CROSS)ar crs $@ $^
	$(CROSS)nm -g --defined-only -f posix $@ | awk 'NF >= 2 && $$1 !~ /:$$/ && $$1 !~ /^tutti_rt_/ { print $$1, "tutti_rt_" $$1 }' | sort -u > $@.names
	$(CROSS)objcopy --redefine-syms=$@.names $@
# What tests/ahead/play.c needs besides: arrays and their files.
$(BUILD)/libplay.a: $(call obj,cli/array.c $(wildcard src/base/*.c src/ops/*.c src/files/*.c))
	@rm -f $@
	$(CROSS)ar crs $@ $^
$(BUILD)/libtutti_rt.so: $(BUILD)/libtutti_rt.a
	$(CC) $(CFLAGS) -shared -o $@.$(ABI) -Wl,--whole-archive $< -Wl,--no-whole-archive \
	    -Wl,--gc-sections -Wl,-soname,libtutti_rt.so.$(ABI) -Wl,-z,defs -lm -ldl -pthread
	ln -sf libtutti_rt.so.$(ABI) $@

# Messages by MPI: one shim for each binary interface whose headers are installed, linked with none.
# An MPI is looked for at run time (src/engine/hosts/find.c).
MPI_openmpi = $(firstword $(wildcard /usr/lib/$(MACHINE)-linux-gnu/openmpi/include /usr/lib64/openmpi/include /usr/include/openmpi))
MPI_mpich = $(firstword $(wildcard /usr/include/$(MACHINE)-linux-gnu/mpich /usr/include/mpich-$(MACHINE) /usr/include/mpich))
MPI_abi = $(MPI_ABI_HEADERS)
shims: $(foreach family,openmpi mpich abi,$(if $(MPI_$(family)),$(BUILD)/tutti_mpi_$(family).so))
$(BUILD)/tutti_mpi_%.so: $(SHIM) src/engine/hosts/shim.h
	@mkdir -p $(BUILD)
	$(CC) -std=gnu17 $(CFLAGS) $(WARN) -fvisibility=hidden -fPIC -shared -Isrc -isystem $(MPI_$*) $< -o $@

# A program for the tests of several processes, which uses the library as a user's does.
$(BUILD)/tests/hosts/%: tests/hosts/%.c include/tutti.h include/tutti_sugar.h $(BUILD)/libtutti.so
	@mkdir -p $(dir $@)
	$(CC) -std=gnu17 $(CFLAGS) $(WARN) -Iinclude -o $@ $< -L$(BUILD) -ltutti -Wl,-rpath,'$$ORIGIN/../..'
$(BUILD)/tests/hosts/programs: tests/hosts/programs.c $(call obj,$(SHARED)) | $(BUILD)/pjrt_plugin_tutti.so
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) -o $@ $^ -ldl -lm -pthread

# The library: C functions in, StableHLO out, over the seam; no LLVM in it.  What is hidden in the
# shared one is made local in the static one too.
lib: $(BUILD)/libtutti.a $(BUILD)/libtutti.so
$(BUILD)/libfront.a: $(call obj,$(FRONT)) $(call obj,$(SHARED))
	@rm -f $@
	$(CROSS)ar crs $@ $^
$(BUILD)/libtutti.a: $(BUILD)/libfront.a
	$(CROSS)ld -r -o $(BUILD)/tutti.o --whole-archive $<
	$(CROSS)objcopy --localize-hidden $(BUILD)/tutti.o
	@rm -f $@
	$(CROSS)ar crs $@ $(BUILD)/tutti.o
$(BUILD)/libtutti.so: $(BUILD)/libfront.a $(HOSTILE_FRONT)
	$(CC) $(CFLAGS) -shared -o $@.$(ABI) -Wl,--whole-archive $< -Wl,--no-whole-archive $(HOSTILE_FRONT) \
	    -Wl,--gc-sections -Wl,-soname,libtutti.so.$(ABI) -Wl,-z,defs -lm -ldl -pthread
	ln -sf libtutti.so.$(ABI) $@

# The lessons in C.  They find the library, and it the engine, beside them in build/.
lessons: $(LESSONS) all
# What the learner has filled in, judged.
EXERCISE := examples/exercise.c
exercise: all
	@tools/exercise.sh $(EXERCISE) $(BUILD)
$(BUILD)/examples/%: examples/%.c include/tutti.h include/tutti_sugar.h $(BUILD)/libtutti.so
	@mkdir -p $(dir $@)
	$(CC) -std=gnu17 $(CFLAGS) $(WARN) -Wpedantic -Iinclude -o $@ $< -L$(BUILD) -ltutti -lm \
	    -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..'

$(BUILD)/examples/%_cpp: examples/%.cpp include/tutti.h include/tutti.hpp $(BUILD)/libtutti.so
	@mkdir -p $(dir $@)
	$(CXX) -std=c++17 $(CFLAGS) -Wall -Wextra -Wpedantic -Wshadow $(if $(CI),-Werror) -Iinclude -o $@ $< -L$(BUILD) -ltutti \
	    -Wl,-rpath,'$$ORIGIN/..'

PREFIX ?= /usr/local
VERSION := $(shell sed -n 's/^.define TUTTI_VERSION "\(.*\)"/\1/p' src/base/version.h)
ABI := 0
AT := $(DESTDIR)$(PREFIX)
install: lib all man
	install -d $(AT)/{bin,include,lib/pkgconfig,lib/cmake/Tutti,share/man/man1,share/bash-completion/completions,share/zsh/site-functions}
	install -m 755 $(TUTTI) $(AT)/bin
	install -m 644 include/tutti.h include/tutti_sugar.h include/tutti.hpp include/tutti_rt.h $(AT)/include
	$(if $(wildcard $(BUILD)/tutti_mpi_*.so),install -m 755 $(BUILD)/tutti_mpi_*.so $(AT)/lib)
	install -m 755 $(PLUGIN) $(PLAYER) $(BUILD)/libtutti.so.$(ABI) $(BUILD)/libtutti_rt.so.$(ABI) $(AT)/lib
	install -m 644 $(BUILD)/libtutti.a $(BUILD)/libtutti_rt.a $(AT)/lib
	ln -sf libtutti.so.$(ABI) $(AT)/lib/libtutti.so
	ln -sf libtutti_rt.so.$(ABI) $(AT)/lib/libtutti_rt.so
	for name in tutti tutti_rt; do \
	    sed 's|@VERSION@|$(VERSION)|' tools/package/$$name.pc.in > $(AT)/lib/pkgconfig/$$name.pc; done
	install -m 644 tools/package/TuttiConfig.cmake $(AT)/lib/cmake/Tutti
	sed 's|@VERSION@|$(VERSION)|' tools/package/TuttiConfigVersion.cmake.in > $(AT)/lib/cmake/Tutti/TuttiConfigVersion.cmake
	install -m 644 $(BUILD)/tutti.1 $(AT)/share/man/man1
	install -m 644 tools/package/completion.bash $(AT)/share/bash-completion/completions/tutti
	install -m 644 tools/package/completion.zsh $(AT)/share/zsh/site-functions/_tutti
# The manual page is what --help says.
man: $(BUILD)/tutti.1
$(BUILD)/tutti.1: $(TUTTI) tools/package/man.sh
	tools/package/man.sh $(TUTTI) > $@

# Packages, in build/dist: a wheel of the engine for JAX, and Debian's of everything (what they need of
# the system: docs/howto/deploy.md).
DIST := $(BUILD)/dist
wheel: $(PLUGIN) shims $(VENV)/.ready
	@mkdir -p $(DIST) && rm -f $(DIST)/*.whl
	$(VENV)/bin/pip wheel -q --no-deps -w $(DIST) ./python
	@ls $(DIST)/*.whl
deb: all lib man
	tools/package/deb.sh $(BUILD) $(DIST) $(VERSION)

# Tests of the front link its insides, and find the engine by TUTTI_PLUGIN or in build/.
FRONT_UNIT := $(patsubst %,$(BUILD)/tests/unit/%_test,value array client print promote numpy misuse rules transform transform_misuse flow spmd collectives shard_grad trees absent closure custom checkpoint precision placed api random training profile debug files dlpack open sharded foreign large jump) \
              $(BUILD)/tests/stress/front_test $(BUILD)/tests/stress/steps_test $(BUILD)/tests/stress/eager_test \
              $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/errors_c/*_test.c))
$(FRONT_UNIT): $(BUILD)/tests/%: tests/%.c tests/check.h $(BUILD)/libfront.a
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) -MMD -MP -MT $@ -c $< -o $@.o
	$(CC) $(CFLAGS) -o $@ $@.o $(BUILD)/libfront.a -lm -ldl -pthread
$(BUILD)/tests/plugins/%.so: tests/plugins/%.c
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) -shared -o $@ $<
$(BUILD)/tests/unit/client_test: $(BUILD)/tests/plugins/fake.so $(BUILD)/tests/plugins/none.so

# Tests.  A test program links what it uses of the engine; LLVM only if it reaches that far.
$(BUILD)/tests/%: tests/%.c tests/check.h $(BUILD)/libengine.a
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) $(LLVM_CFLAGS) -MMD -MP -MT $@ -c $< -o $@.o
	$(LINK) -o $@ $@.o $(BUILD)/libengine.a $(LIBS)
# Tests of what plays programs alone, without the compiler: for a machine whose LLVM is not here (tests/cross.sh).
RT_TESTS := $(patsubst %,$(BUILD)/tests/rt/%_test,executor engine_collectives event buffer memory lent sort_keys factors linalg transpose guard)
rt-tests: $(RT_TESTS)
$(BUILD)/tests/rt/%: tests/unit/%.c tests/check.h $(call obj,$(RT))
	@mkdir -p $(dir $@)
	$(CC) $(ALL_CFLAGS) -Wl,--gc-sections -o $@ $< $(call obj,$(RT)) -lm -ldl -pthread
$(BUILD)/run-tests: tests/run.c
	@mkdir -p $(BUILD)
	$(CC) $(ALL_CFLAGS) -o $@ $<

unit: $(BUILD)/run-tests $(UNIT) $(foreach t,fault arrays collectives programs train,$(BUILD)/tests/hosts/$(t)) all lessons $(BUILD)/libplay.a
	$(BUILD)/run-tests -j $(JOBS) $(UNIT) $(wildcard tests/*.sh)
test: # one after the other, each built on all cores
	$(MAKE) -j$(JOBS) unit
	$(MAKE) -j$(JOBS) asan
	$(MAKE) -j$(JOBS) tsan
	$(MAKE) -j$(JOBS) hostile
	$(MAKE) -j$(JOBS) fuzz
	$(MAKE) -j$(JOBS) jax-test
	$(MAKE) format-check
	$(MAKE) -j$(JOBS) xla-test

# The same tests with the sanitizers' eyes.
ASAN := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
asan: $(PLUGIN) $(BUILD)/libtutti.so
	$(MAKE) BUILD=build/asan CFLAGS='$(ASAN)' unit-only
tsan: $(PLUGIN)
	$(MAKE) BUILD=build/tsan CFLAGS='-O1 -g -fsanitize=thread' stress-only
unit-only: $(BUILD)/run-tests $(UNIT) $(LESSONS) $(PLUGIN) $(TUTTI)
	BUILD=$(BUILD) SECONDS_EACH=20 $(BUILD)/run-tests -j $(JOBS) $(UNIT) $(patsubst %,tests/%.sh,lessons errors programs cli)
STRESS := $(filter %executor_test %engine_collectives_test %event_test %gemm_test %buffer_test %value_test %recover_test %shared_test %abandoned_test %handles_test %floats_test %wire_test %lent_test,$(UNIT)) $(filter $(BUILD)/tests/stress/%,$(UNIT))
stress-only: $(BUILD)/run-tests $(STRESS) $(PLUGIN) $(TUTTI)
	TSAN_OPTIONS=suppressions=tests/tsan.supp TUTTI_YIELD=1 $(BUILD)/run-tests -j $(JOBS) $(STRESS)
	BUILD=$(BUILD) $(BUILD)/run-tests tests/programs.sh

# Every request for memory refused, one after the other (tests/hostile/hostile.c says what must hold):
# SAMPLES of them in each program, or all when it is empty, as long as there are fewer than MOST.
SAMPLES ?= 20
MOST ?= 2000
MODES ?= once all
HOSTILE_PROGRAMS ?= $(filter-out %/pure_callback.mlirbc $(wildcard tests/jax/open_*),$(wildcard tests/programs/*.mlir tests/jax/*.mlirbc))
$(BUILD)/obj/tests/hostile/%.o: tests/hostile/memory.c tests/hostile/memory.h
	@mkdir -p $(dir $@)
	$(CC) -std=gnu17 $(CFLAGS) $(WARN) -fvisibility=hidden -fPIC -I. -DHOSTILE_VARIABLE='"TUTTI_FAIL_$*"' -c $< -o $@
$(BUILD)/hostile: tests/hostile/hostile.c $(call obj,cli/execute.c cli/array.c $(SHARED)) $(HOSTILE_FRONT)
	$(CC) $(ALL_CFLAGS) -Icli -o $@ $^ -lm -ldl -pthread
$(BUILD)/hostile-library: tests/hostile/library.c $(BUILD)/libfront.a $(HOSTILE_FRONT)
	$(CC) $(ALL_CFLAGS) -DTT_NO_SUGAR -o $@ $^ -lm -ldl -pthread
$(BUILD)/hostile-save: tests/hostile/save.c $(BUILD)/libfront.a $(HOSTILE_FRONT)
	$(CC) $(ALL_CFLAGS) -o $@ $^ -lm -ldl -pthread
hostile:
	$(MAKE) BUILD=build/hostile HOSTILE=1 CFLAGS='$(CFLAGS)' hostile-only
hostile-only: $(BUILD)/hostile $(BUILD)/hostile-library $(BUILD)/hostile-save $(PLUGIN) $(TUTTI) $(LESSONS) shims
	BUILD=$(BUILD) tests/hostile/save.sh
	BUILD=$(BUILD) tests/hostile/programs.sh "$(SAMPLES)" $(MOST) $(MODES)
	$(BUILD)/hostile-library $(if $(SAMPLES),--samples $(SAMPLES),--samples 0 --most $(MOST)) > $(BUILD)/library.log || { cat $(BUILD)/library.log; exit 1; }
	for mode in $(MODES) llvm; do \
	    $(BUILD)/hostile --mode $$mode $(if $(SAMPLES),--samples $(SAMPLES),--most $(MOST)) $(HOSTILE_PROGRAMS) || exit 1; done

FUZZ_SECONDS ?= 10
FUZZERS := $(patsubst tests/fuzz/%.c,build/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
build/fuzz/packets_fuzz: FUZZED := $(addprefix src/engine/hosts/,wire.c posts.c packets.c parts.c stream.c wire_runs.c ask.c circles.c)
build/fuzz/%: tests/fuzz/%.c $(SHARED) | $(BUILD)/.deps
	@mkdir -p $(dir $@)
	$(FUZZ_CC) -std=gnu17 -O1 -g -Isrc -I. -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    -o $@ $< $(FUZZED) $(SHARED) -lm
# The whole engine, as it is built for `make asan`, with libFuzzer's driver.
ENGINE_FUZZERS := compile_fuzz abi_fuzz
$(ENGINE_FUZZERS:%=$(BUILD)/tests/fuzz/%): LIBS += $(shell $(FUZZ_CC) -print-resource-dir)/lib/linux/libclang_rt.fuzzer-$(MACHINE).a
$(BUILD)/tests/fuzz/compile_fuzz: tests/fuzz/mutate.h
$(ENGINE_FUZZERS:%=build/fuzz/%): build/fuzz/%: always
	$(MAKE) BUILD=build/asan CFLAGS='$(ASAN)' build/asan/tests/fuzz/$*
	@mkdir -p $(dir $@) && ln -sf ../asan/tests/fuzz/$* $@
always:
fuzz: $(BUILD)/run-tests $(FUZZERS)
	@mkdir -p $(foreach f,$(FUZZERS),build/fuzz/corpus/$(notdir $(f)))
	$(BUILD)/run-tests -t $$((3 * $(FUZZ_SECONDS) + 300)) -j $(JOBS) $(foreach f,$(FUZZERS),"$(f) -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=4096 build/fuzz/corpus/$(notdir $(f)) tests/fuzz/corpus/$(notdir $(f)) $(if $(findstring compile,$(f)),tests/programs)")

# The whole project for aarch64: cross-built, played by qemu.  DIR: a folder of further programs that check themselves;
# WHOLE=1: the unit tests that take minutes so too.
aarch64: all lessons
	WHOLE=$(WHOLE) tools/cross/aarch64.sh $(DIR)

# Random programs, as many as one has time for: N in StableHLO from seed FIRST on, a tenth of that in
# JAX on one device, a fortieth on several.
N ?= 1000000
FIRST ?= 1000000
soak:
	$(MAKE) -k soak-hlo soak-jax soak-sharded
soak-hlo: $(BUILD)/tests/random/random_test
	$< --soak $(FIRST) $(N)
soak-jax: $(VENV)/.plugin
	$(VENV)/bin/python python/tests/random_jax/play.py $(FIRST) $$(($(N) / 10))
soak-sharded: $(VENV)/.plugin
	$(VENV)/bin/python python/tests/random_jax/play.py --sharded $(FIRST) $$(($(N) / 40))

# A folder of programs that check themselves: compiled, evaluated, and compiled with checks of bounds.
conformance: all
	@test -n "$(wildcard $(DIR)/*.mlir)" || { echo "make conformance DIR=a-folder-of-programs"; exit 1; }
	$(TUTTI) check $(DIR)/*.mlir
	$(TUTTI) check --eval $(DIR)/*.mlir
	TUTTI_CHECK=bounds $(TUTTI) check $(DIR)/*.mlir

# Programs compiled ahead: a folder of those that check themselves, linked a hundred at a time, and beside that the
# models that JAX exports.
ahead-conformance: all $(BUILD)/libplay.a
	@test -n "$(wildcard $(DIR)/*.mlir)" || { echo "make ahead-conformance DIR=a-folder-of-programs"; exit 1; }
	find $(DIR) -name '*.mlir' | sort | xargs -n 100 tests/ahead/play.sh
ahead-models: all $(VENV)/.ready
	$(VENV)/bin/python tests/ahead/models.py

# Real JAX on our engine.
$(VENV)/.ready: python/requirements.txt python/requirements-xprof.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install -q -r python/requirements.txt
	$(VENV)/bin/pip install -q --no-deps -r python/requirements-xprof.txt || echo "no xprof: its tests are left out"
	@touch $@
$(VENV)/.plugin: $(VENV)/.ready $(PLUGIN) $(shell find python/jax_tutti -name '*.py') python/pyproject.toml
	$(VENV)/bin/pip install -q --no-deps --force-reinstall ./python
	@touch $@
jax-test: all $(VENV)/.plugin $(BUILD)/tests/unit/ops_test
	$(VENV)/bin/python -m pytest -q python/tests --ignore=python/tests/test_versions.py
	$(VENV)/bin/python -m pytest -q python/tests/test_versions.py
	TUTTI_PLATFORM=cpu $(VENV)/bin/python -m pytest -q python/tests/test_versions.py
	$(MAKE) jax-version
# The features that lean on JAX's insides, with another version of JAX (docs/howto/jax.md has the table).
JAX_VERSION ?= 0.9.2
OTHER := build/venv-$(JAX_VERSION)
jax-version: $(PLUGIN)
	test -x $(OTHER)/bin/pytest || { $(PYTHON) -m venv $(OTHER) && $(OTHER)/bin/pip install -q jax==$(JAX_VERSION) jaxlib==$(JAX_VERSION) pytest flatbuffers; }
	$(OTHER)/bin/pip install -q --no-deps --force-reinstall ./python
	$(OTHER)/bin/python -m pytest -q -p no:cacheprovider python/tests/test_versions.py
	TUTTI_PLATFORM=cpu $(OTHER)/bin/python -m pytest -q -p no:cacheprovider python/tests/test_versions.py

# docs/accuracy.md: how far functions and sums through jax.jit are from the truth, and XLA's beside.
accuracy: all $(VENV)/.plugin
	JAX_PLATFORMS=tutti,cpu $(VENV)/bin/python python/tests/accuracy_page.py docs/accuracy.md

# JAX's own test files, from its sources at the tag of python/requirements.txt (SUITES: some), first on
# JAX's own CPU backend, then on ours: hours.  It goes on where it was ended; rm -r build/jax-suite begins.
jax-suite: all $(VENV)/.plugin
	@test -f "$(JAX)/tests/lax_test.py" || { echo "make jax-suite JAX=path-to-jax-sources"; exit 1; }
	$(VENV)/bin/pip install -q absl-py hypothesis mpmath
	$(VENV)/bin/python python/tests/jax_suite.py --jax "$(JAX)" --resume --platforms cpu,tutti --table docs/jax_suites.md $(SUITES)

# JAX's own multi-process tests, four processes of two devices, on JAX's CPU backend and on ours: minutes.
jax-hosts: all $(VENV)/.plugin
	@test -f "$(JAX)/tests/multiprocess/array_test.py" || { echo "make jax-hosts JAX=path-to-jax-sources"; exit 1; }
	$(VENV)/bin/pip install -q absl-py cloudpickle
	$(VENV)/bin/python python/tests/jax_hosts.py --jax "$(JAX)" --table docs/howto/hosts.md

# What the front lowers, compiled and run by XLA.
PROGRAMS := $(BUILD)/programs
xla-test: $(PLUGIN) $(patsubst %,$(BUILD)/tests/unit/%_test,rules flow spmd collectives) $(VENV)/.ready
	@rm -rf $(PROGRAMS) && mkdir -p $(PROGRAMS)
	TUTTI_PROGRAMS=$(PROGRAMS) $(BUILD)/tests/unit/rules_test
	TUTTI_PROGRAMS=$(PROGRAMS) $(BUILD)/tests/unit/flow_test
	TUTTI_PROGRAMS=$(PROGRAMS) $(BUILD)/tests/unit/spmd_test
	TUTTI_PROGRAMS=$(PROGRAMS) $(BUILD)/tests/unit/collectives_test
	$(VENV)/bin/python tests/front/xla.py $(PROGRAMS)

run: all lessons $(VENV)/.plugin
	@tools/show.sh

bench: all lessons $(VENV)/.plugin
	$(MAKE) -f bench/bench.mk BUILD=$(BUILD) VENV=$(VENV)
# The wide table and docs/performance.md; QUICK=1: some of its rows, and no page.
bench-hosts: all $(VENV)/.plugin
	$(MAKE) -f bench/bench.mk BUILD=$(BUILD) VENV=$(VENV) hosts

bench-wide: all $(VENV)/.plugin
	$(MAKE) -f bench/bench.mk BUILD=$(BUILD) VENV=$(VENV) wide $(if $(QUICK),QUICK=1)

# The whole tree as .clang-format has it, by the version of clang-format that the venv brings.
CLANG_FORMAT ?= $(VENV)/bin/clang-format
format: $(filter $(VENV)/%,$(CLANG_FORMAT:%/bin/clang-format=%/.ready))
	tools/format.sh $(CLANG_FORMAT)
format-check: $(filter $(VENV)/%,$(CLANG_FORMAT:%/bin/clang-format=%/.ready))
	tools/format.sh $(CLANG_FORMAT) --check
docs: # the list of files in ARCHITECTURE.md, code and output in docs/lessons, made anew
	$(PYTHON) tools/files.py
	$(PYTHON) tools/lessons.py
pictures: all lessons # of the lessons, from runs on this machine
	$(PYTHON) tools/pictures/pictures.py
book: # the lessons and howtos as one page
	@mkdir -p $(BUILD)
	$(PYTHON) tools/book.py $(BUILD)/book.html
size:
	@tools/size.sh
clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
