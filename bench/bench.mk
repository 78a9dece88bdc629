# The benchmarks' own programs; called by `make bench`.
OUT := build/bench
SHARED_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard src/base/*.c src/ops/*.c src/hlo/*.c src/hlo/define/*.c src/hlo/read/*.c src/pjrt/*.c))
CFLAGS := -std=gnu17 -O2 -g -Wall -Wextra -Wno-missing-field-initializers -fvisibility=hidden -fPIC -pthread -Isrc

bench: $(OUT)/ours $(OUT)/limits $(OUT)/moves $(OUT)/null_plugin.so $(OUT)/front
	$(VENV)/bin/python bench/run.py
	$(VENV)/bin/python bench/front.py
$(OUT)/front: bench/front.c $(BUILD)/libtutti.so
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -Iinclude -o $@ $< -L$(BUILD) -ltutti -Wl,-rpath,'$$ORIGIN/..'
$(OUT)/ours: bench/ours.c $(SHARED_OBJ)
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -o $@ $^ -ldl -lm
$(OUT)/limits: bench/limits.c
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -O3 -o $@ $<
$(OUT)/moves: bench/moves.c
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -o $@ $<
# Sums over several processes: `make bench-hosts`; with each MPI whose headers there are.
HOSTS_MPI := $(foreach mpi,openmpi mpich,$(if $(shell command -v mpicc.$(mpi)),$(OUT)/hosts_$(mpi)))
hosts: $(OUT)/hosts $(HOSTS_MPI)
	$(VENV)/bin/python bench/hosts.py
$(OUT)/hosts: bench/hosts.c $(BUILD)/libtutti.so
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -Iinclude -o $@ $< -L$(BUILD) -ltutti -Wl,-rpath,'$$ORIGIN/..'
$(OUT)/hosts_%: bench/hosts_mpi.c
	@mkdir -p $(OUT)
	mpicc.$* $(CFLAGS) -O3 -o $@ $<
$(OUT)/null_plugin.so: bench/null_plugin.c $(SHARED_OBJ)
	@mkdir -p $(OUT)
	$(CC) $(CFLAGS) -shared -o $@ $^ -Wl,--version-script=src/engine/plugin/exports.map -lm
wide: $(OUT)/limits
	PYTHON=$(VENV)/bin/python $(VENV)/bin/python bench/wide.py $(if $(QUICK),--quick --json $(OUT)/wide_quick.json)
	$(if $(QUICK),,$(VENV)/bin/python bench/performance.py $(OUT)/wide.json docs/performance.md)
