# Two commands: `make demo` and `make test`. Each installs what it needs first (scripts/setup).
export PATH := $(HOME)/.cargo/bin:$(PATH)
DEMO_TREE ?= /usr/include

PREFIX ?= /usr/local
# Given but empty, it is the same.
override PREFIX := $(or $(PREFIX),/usr/local)
# What is installed as the program; built when it is this one.
built_program := $(or $(CARGO_TARGET_DIR),target)/release/silverpoint
PROGRAM ?= $(built_program)
# Profile of libsilverpoint.
SILVERPOINT_CARGO_PROFILE ?= release
# What is built in one go: for each other selection of packages Cargo may compile what they share again.
SILVERPOINT_CARGO_SELECTION ?= --package silverpoint-ffi $(if $(filter $(built_program),$(PROGRAM)),--package silverpoint-cli)
empty :=
space := $(empty) $(empty)
# Where the libraries are built.
C_BUILD ?= $(or $(CARGO_TARGET_DIR),target)/c

.PHONY: demo test test-all arrow install-arrow bench kill-test crash-test wheel python dotnet lint format build install install-files uninstall docs help

help:
	@echo "make demo       run the demonstration on real input (DEMO_TREE=$(DEMO_TREE))"
	@echo "make test       the tests that a change needs: Rust, C++, C, Qt"
	@echo "make test-all   every test: AArch64, loom, Miri, fuzzing, instruction counts, kill and crash tests, Python and .NET too"
	@echo "make arrow      build and test silverpoint-arrow: Parquet and Arrow for 'silverpoint convert'"
	@echo "make kill-test  the 500 rounds of the kill test"
	@echo "make crash-test crashes at any moment, 300 rounds of each kind in Rust and C++"
	@echo "make bench      measure, and write bench/results: half an hour at most (QUICK=1: less)"
	@echo "make build      what 'make install' installs, and installs nothing"
	@echo "make install    program, manual pages, completions, headers, libsilverpoint, CMake's package and .pc files under PREFIX=$(PREFIX)"
	@echo "make uninstall  remove what make install has put there"
	@echo "make wheel      build the wheel for Python: target/wheels"
	@echo "make python     build the wheel for Python, install it into an environment below target/, and test it"
	@echo "make dotnet     build Silverpoint.dll for .NET, and test it on Mono, .NET Core 3.1, .NET 8 and .NET 10"
	@echo "make docs       build the documentation as a site, with the reference of each language: target/docs/site"
	@echo "make lint       formatting and lints, as in continuous integration"
	@echo "make format     let rustfmt and clang-format decide the layout"

demo:
	scripts/setup demo
	demo/run "$(DEMO_TREE)"

test:
	scripts/setup test
	scripts/test

test-all:
	scripts/setup test
	scripts/test all

arrow:
	scripts/setup demo
	scripts/arrow

# The helper for Parquet and Arrow, as `make arrow` has built it.
install-arrow:
	install -D -m 755 "$(or $(CARGO_TARGET_DIR),target)/arrow/release/silverpoint-arrow" "$(DESTDIR)$(PREFIX)/bin/silverpoint-arrow"

crash-test:
	scripts/setup test
	scripts/test crash-full

kill-test:
	scripts/setup test
	scripts/test kill-full

bench:
	scripts/setup bench
	bench/run $(if $(QUICK),--quick); status=$$?; bench/report && exit $$status

wheel:
	scripts/setup python
	scripts/python build

python:
	scripts/setup python
	scripts/python

dotnet:
	scripts/setup dotnet
	scripts/dotnet

docs:
	scripts/setup docs
	scripts/docs

lint:
	scripts/setup lint
	scripts/lint

format:
	scripts/setup lint
	cargo fmt --all
	git ls-files '*/Cargo.lock' | sed 's/lock$$/toml/' | xargs -n 1 cargo fmt --manifest-path
	git ls-files '*.hpp' '*.cpp' '*.h' '*.c' | xargs -r clang-format-16 -i

# Cargo and CMake show what they build. SILVERPOINT_CARGO_PROFILE is the profile of libsilverpoint; a PROGRAM that is given is not built.
build:
ifeq ($(PROGRAM),$(built_program))
	cargo build --locked --release $(SILVERPOINT_CARGO_SELECTION)
endif
	cmake -S . -B "$(C_BUILD)" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" -DCMAKE_INSTALL_LIBDIR=lib -DSILVERPOINT_LOGGER=ON \
	    -DSILVERPOINT_CARGO_PROFILE=$(SILVERPOINT_CARGO_PROFILE) -DSILVERPOINT_CARGO_TARGET_DIR="$(abspath $(or $(CARGO_TARGET_DIR),target))" \
	    "-DSILVERPOINT_CARGO_SELECTION=$(subst $(space),;,$(strip $(SILVERPOINT_CARGO_SELECTION)))"
	cmake --build "$(C_BUILD)"

# Whether there is a right to write is asked before minutes are spent.
install:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install --check
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory install-files

# DESTDIR stages the files for a package.
install-files:
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install "$(PROGRAM)" "$(C_BUILD)"

# What `make install` and `make install-arrow` have put there, and nothing else.
uninstall:
	@rm -f "$(DESTDIR)$(PREFIX)/bin/silverpoint-arrow"
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install --remove
