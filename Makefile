# Every target does its own set-up first: packages, configuration, build. The work is in CMake; these are the commands
# worth remembering.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SECONDS ?= 60
KILLS ?= 100
BENCHMARKS := bench_store bench_controller bench_models bench_policies bench_python

.DEFAULT_GOAL := help

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 18

.PHONY: deps
deps:
	@tools/install-deps

.PHONY: build
build: deps ## the program build/release/bapi, the library and the tests
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

.PHONY: demo
demo: deps ## tune the example network with a minute of training
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi train_mlp
	rm -rf build/demo
	build/release/bapi run examples/mlp/study.yaml --dir build/demo

.PHONY: test
test: build ## the test suite, without the slow tests
	ctest --preset release -j 2 -LE slow

.PHONY: test-dev
test-dev: deps ## the same with address and undefined-behaviour sanitizers
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j 2 -LE slow

.PHONY: test-integrations
test-integrations: deps ## the wheel, and the Python integrations with the newest libraries; needs PyPI
	tools/test-integrations

.PHONY: fuzz
fuzz: ## every reader of outside bytes with random input, SECONDS (60) each; needs clang
	@tools/install-deps fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/run_fuzz.py --seconds $(SECONDS)

.PHONY: torture
torture: deps ## studies under kills, stops, full disks and evil training programs, judged from outside
	@tools/install-deps torture
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	tests/torture/torture.py --bapi build/release/bapi --kills $(KILLS)

.PHONY: bench
bench: deps ## timings beside the raw engine's; figures in build/bench.json
	cmake --preset release -DBAPI_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target $(BENCHMARKS)
	tools/run_benchmarks.py build/bench.json $(BENCHMARKS:%=build/release/%)

EXPERIMENT_DIR ?= build/experiments
SMALL_STUDIES := $(wildcard experiments/studies/small/*.yaml)
RECORDINGS := $(wildcard experiments/studies/record/*.yaml)

.PHONY: experiments
experiments: ## install what the paper's experiments with agents need, and build their training program
	@tools/install-deps experiments
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi train_agent

.PHONY: experiments-small
experiments-small: experiments ## every experiment at its small size, live
	for study in $(SMALL_STUDIES); do build/release/bapi run "$$study" --dir $(EXPERIMENT_DIR) || exit; done

.PHONY: experiments-record
experiments-record: experiments ## record learning curves for the tables (an hour; resumes)
	for study in $(RECORDINGS); do \
	  nice -n 19 build/release/bapi run "$$study" --dir $(EXPERIMENT_DIR)/record || exit; done

.PHONY: format
format: deps ## clang-format over every C++ file
	tools/format.sh

# Not part of the set-up: clang-tidy is 100 MB, and a look at everything takes an hour.
TIDY ?= $(shell git diff --name-only --diff-filter=d HEAD -- 'src/*.cc' 'python/core/*.cc')
.PHONY: tidy
tidy: ## clang-tidy over the changed files, or over TIDY="file ..."; needs Debian's clang-tidy
	@command -v clang-tidy > /dev/null || { echo "apt install clang-tidy" >&2; exit 1; }
	cmake --preset release
	@if [ -z "$(strip $(TIDY))" ]; then echo "no changed file; TIDY=\"file ...\" names others"; \
	else clang-tidy -p build/release --quiet --extra-arg=-Wno-unknown-warning-option $(TIDY); fi

.PHONY: install
install: build ## program, library, headers and CMake package into PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

.PHONY: deb
deb: build ## build/bapi_<version>_<architecture>.deb
	cpack --config build/release/CPackConfig.cmake -G DEB -B build

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build
