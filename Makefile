# Every target does its own set-up first: packages, configuration, build. The work is in CMake; these are the commands
# worth remembering.

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SECONDS ?= 60
KILLS ?= 100
BENCHMARKS := bench_store bench_controller bench_models bench_policies bench_python

.DEFAULT_GOAL := help

.PHONY: help
help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 25

.PHONY: deps
deps:
	@tools/install-deps

.PHONY: build
build: deps ## build the program build/release/bapi, the library and the tests
	@echo "Building bapi and its tests: about 11 minutes of processor time, on $(JOBS) jobs; seconds if it was built before"
	cmake --preset release
	cmake --build --preset release -j $(JOBS)

.PHONY: demo
demo: deps ## tune the example network with a minute of training
	@echo "Building bapi: about 5 minutes of processor time, on $(JOBS) jobs; seconds if it was built before"
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi train_mlp
	rm -rf build/demo
	@echo "Tuning the network of examples/mlp: one minute of training on two workers"
	build/release/bapi run examples/mlp/study.yaml --dir build/demo

.PHONY: test
test: build ## run the test suite without the slow tests
	ctest --preset release -j 3 -LE slow

.PHONY: test-dev
test-dev: deps ## run it with address and undefined-behaviour sanitizers
	cmake --preset dev
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j 2 -LE slow

.PHONY: test-integrations
test-integrations: deps ## test the wheel and the Python integrations with the newest libraries (needs PyPI)
	tools/test-integrations

.PHONY: test-web
test-web: deps ## test the dashboard in Debian's Chromium (needs npm for three test libraries)
	@tools/install-deps web
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	cd tests/web && npm ci --silent --no-audit --no-fund && node --test --test-concurrency=1 *.spec.mjs

.PHONY: test-cluster
test-cluster: deps ## test faults of a cluster, a Slurm that the test starts, and two hosts with a cable (twelve minutes)
	@tools/install-deps cluster
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	BAPI=$(CURDIR)/build/release/bapi BAPI_REQUIRE_CLUSTER_TESTS=1 python3 tests/e2e/cluster_faults_test.py
	BAPI_REQUIRE_CLUSTER_TESTS=1 tests/cluster/slurm_test.py --bapi build/release/bapi
	BAPI_REQUIRE_CLUSTER_TESTS=1 tests/cluster/two_hosts_test.py --bapi build/release/bapi

.PHONY: bench-web
bench-web: deps ## measure the dashboard with 10,000 trials of 100 epochs against its targets (on an idle machine)
	@tools/install-deps web
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	cd tests/web && npm ci --silent --no-audit --no-fund && node bench.mjs

.PHONY: fuzz
fuzz: ## fuzz every reader of outside bytes for SECONDS (60) each (needs clang)
	@tools/install-deps fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz -j $(JOBS)
	tools/run_fuzz.py --seconds $(SECONDS)

.PHONY: torture
torture: deps ## run studies under kills, stops, full disks and misbehaving programs
	@tools/install-deps torture
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	tests/torture/torture.py --bapi build/release/bapi --kills $(KILLS)

.PHONY: bench
bench: deps ## measure timings next to those of the raw engine; figures in build/bench.json
	cmake --preset release -DBAPI_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target $(BENCHMARKS)
	tools/run_benchmarks.py build/bench.json $(BENCHMARKS:%=build/release/%)

.PHONY: bench-docs
bench-docs: bench ## the same, and put the figures into docs/benchmarks.md (on an idle machine)
	tools/bench_docs.py build/bench.json docs/benchmarks.md

.PHONY: bench-cluster
bench-cluster: deps ## measure what a database carries between leader and workers (a private server; four minutes)
	cmake --preset release -DBAPI_BENCH=ON
	cmake --build --preset release -j $(JOBS) --target bench_cluster
	build/release/bench_cluster --dir build --json build/bench-cluster.json

.PHONY: bench-workers
bench-workers: deps ## compare policies with 1 to 1,000 workers in simulated time (an hour of one core; resumes)
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	nice -n 19 bench/cluster/many_workers.py --bapi build/release/bapi --out build/many-workers

EXPERIMENT_DIR ?= build/experiments
DATA ?= data
SMALL_STUDIES := $(wildcard experiments/studies/small/*.yaml)
RECORDINGS := $(wildcard experiments/studies/record/*.yaml)
PAPER_POLICIES := bapi-4,bapi-8,bapi-4-l,bapi-4-nm,bapi,hyperband,bohb,ei,ms-ei,binoculars,boil,bms-ei,glasses,random,asha,top-k,one-epoch
AGENT_TABLES := $(wildcard experiments/tables/ddqn-*.csv experiments/tables/a2c-*.csv)
REPLAY_SEEDS ?= 10
REPLAY_BUDGETS ?= 5full,10full,20full

.PHONY: experiments
experiments: deps ## install what the paper's experiments need (libtorch, MuJoCo), and build their training programs
	@tools/install-deps experiments
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi train_agent train_network train_cnn

.PHONY: experiments-small
experiments-small: experiments ## run every experiment at its small size; DATA=dir holds the data sets
	for study in $(SMALL_STUDIES); do \
	  BAPI_DATA="$(abspath $(DATA))" build/release/bapi run "$$study" --dir $(EXPERIMENT_DIR) || exit; done

.PHONY: experiments-record
experiments-record: experiments ## record learning curves for the tables (two hours of one core; resumes); DATA=dir
	for study in $(RECORDINGS); do \
	  BAPI_DATA="$(abspath $(DATA))" nice -n 19 build/release/bapi run "$$study" --dir $(EXPERIMENT_DIR)/record || exit; \
	done
	experiments/publish.py $(EXPERIMENT_DIR)/record/*.bapi --out $(EXPERIMENT_DIR)/tables

.PHONY: experiments-live
experiments-live: experiments ## train live with four policies on four experiments (half an hour of one core; resumes); DATA=dir
	nice -n 19 experiments/live.py --data "$(DATA)" --dir $(EXPERIMENT_DIR)/live

.PHONY: experiments-compare
experiments-compare: deps ## compare all policies of the paper on the tables; results go into experiments/README.md
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	experiments/kept_runs.py restore $(EXPERIMENT_DIR)/compare
	build/release/bapi compare --tables $(wildcard experiments/tables/cnn-svhn-*.csv) \
	  --policies bapi-4-svhn=bapi-4:p=0.1:epsilon=0.005 \
	  --seeds $(REPLAY_SEEDS) --budgets $(REPLAY_BUDGETS) --out $(EXPERIMENT_DIR)/compare
	build/release/bapi compare --tables $(AGENT_TABLES) --policies bapi-4-agents=bapi-4:time_kernel=rbf:epsilon=auto \
	  --seeds $(REPLAY_SEEDS) --budgets $(REPLAY_BUDGETS) --out $(EXPERIMENT_DIR)/compare
	build/release/bapi compare --tables experiments/tables/INDEX.csv --policies $(PAPER_POLICIES) \
	  --seeds $(REPLAY_SEEDS) --budgets $(REPLAY_BUDGETS) --out $(EXPERIMENT_DIR)/compare
	python3 experiments/report $(EXPERIMENT_DIR)/compare
	experiments/kept_runs.py keep $(EXPERIMENT_DIR)/compare

# Where an epoch costs more the better its agent is, against the same tables with constant costs.
COST_TABLES := $(wildcard experiments/tables/ddqn-cartpole-*.csv experiments/tables/a2c-pendulum-*.csv)
.PHONY: experiments-cost
experiments-cost: deps ## show what a cost that grows with success does to the policies (after experiments-compare)
	cmake --preset release
	cmake --build --preset release -j $(JOBS) --target bapi
	mkdir -p $(EXPERIMENT_DIR)/flat
	for table in $(COST_TABLES); do \
	  python3 experiments/report/cost_growth.py --flatten "$$table" $(EXPERIMENT_DIR)/flat/"$${table##*/}" || exit; done
	build/release/bapi compare --tables $(EXPERIMENT_DIR)/flat --policies bapi,bapi-4 \
	  --seeds $(REPLAY_SEEDS) --budgets 5full,10full --out $(EXPERIMENT_DIR)/compare-flat
	python3 experiments/report/cost_growth.py $(COST_TABLES)
	python3 experiments/report/cost_growth.py --effect $(EXPERIMENT_DIR)/compare $(EXPERIMENT_DIR)/compare-flat

.PHONY: format
format: deps ## format every C++ file with clang-format
	tools/format.sh

# Not part of the set-up: clang-tidy is 100 MB, and a look at everything takes an hour.
TIDY ?= $(shell git diff --name-only --diff-filter=d HEAD -- 'src/*.cc' 'python/core/*.cc')
.PHONY: tidy
tidy: ## check the changed files, or TIDY="file ...", with clang-tidy
	@command -v clang-tidy > /dev/null || { echo "apt install clang-tidy" >&2; exit 1; }
	cmake --preset release
	@if [ -z "$(strip $(TIDY))" ]; then echo "no changed file; TIDY=\"file ...\" names others"; \
	else clang-tidy -p build/release --quiet --extra-arg=-Wno-unknown-warning-option $(TIDY); fi

.PHONY: install
install: build ## install program, library, headers and CMake package into PREFIX (/usr/local)
	cmake --install build/release --prefix $(PREFIX)

.PHONY: deb
deb: deps ## build build/package/bapi_<version>_<architecture>.deb
	cmake --preset package
	cmake --build --preset package -j $(JOBS)
	cpack --config build/package/CPackConfig.cmake -G DEB -B build/package

.PHONY: single-file
single-file: deps ## build build/static/bapi, one file that runs on any Linux of this processor family
	@tools/install-deps single-file
	tools/fetch-httplib build/httplib
	cmake --preset static -DBAPI_HTTPLIB_DIR=$(CURDIR)/build/httplib
	cmake --build --preset static -j $(JOBS) --target bapi

# What users download, with checksums: the program as one file, wheels that need no compiler, the Debian package.
RELEASE := build/release-files
VERSION = $(shell sed -n 's,^project.bapi VERSION \([0-9.]*\).*,\1,p' CMakeLists.txt)

.PHONY: release
release: deps ## build and test everything for a release into build/release-files (needs root, PyPI, a Debian mirror)
	@tools/install-deps release
	@echo "Building the single file, the package and a wheel for each Python: half an hour of processor time"
	tools/begin-release $(RELEASE)
	$(MAKE) single-file deb
	install --strip build/static/bapi $(RELEASE)/bapi-$(VERSION)-linux-$(shell uname -m)
	cp build/package/bapi_$(VERSION)_*.deb $(RELEASE)
	tools/build-wheels $(RELEASE)/bapi-$(VERSION)-linux-$(shell uname -m) $(RELEASE)
	cd $(RELEASE) && sha256sum bapi* > SHA256SUMS
	@echo "Testing them in root file systems of Debian 11 and 12: about five minutes"
	tools/test-release $(RELEASE)

.PHONY: clean
clean: ## remove everything that was built
	rm -rf build
