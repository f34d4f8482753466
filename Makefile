# Two commands: `make demo` and `make test`. Each installs what it needs first (scripts/setup).
export PATH := $(HOME)/.cargo/bin:$(PATH)
DEMO_TREE ?= /usr/include

PREFIX ?= /usr/local
# What is installed as the program; built when it is this one.
PROGRAM ?= $(or $(CARGO_TARGET_DIR),target)/release/silverpoint
# Where the library for C is built.
C_BUILD ?= $(or $(CARGO_TARGET_DIR),target)/c

.PHONY: demo test test-all arrow install-arrow bench kill-test crash-test python lint format install install-files help

help:
	@echo "make demo       run the demonstration on real input (DEMO_TREE=$(DEMO_TREE))"
	@echo "make test       the tests that a change needs: Rust, C++, C, Qt"
	@echo "make test-all   every test: AArch64, loom, Miri, fuzzing, instruction counts, kill and crash tests, Python too"
	@echo "make arrow      build and test silverpoint-arrow: Parquet and Arrow for 'silverpoint convert'"
	@echo "make kill-test  the 500 rounds of the kill test"
	@echo "make crash-test crashes at any moment, 300 rounds of each kind in Rust and C++"
	@echo "make bench      measure, and write bench/results: half an hour at most (QUICK=1: less)"
	@echo "make install    program, manual pages, completions, headers for C and C++, library for C under PREFIX=$(PREFIX)"
	@echo "make python     build the wheel for Python, install it into an environment below target/, and test it"
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
	install -D -m 755 $(or $(CARGO_TARGET_DIR),target)/arrow/release/silverpoint-arrow $(DESTDIR)$(PREFIX)/bin/silverpoint-arrow

crash-test:
	scripts/setup test
	scripts/test crash-full

kill-test:
	scripts/setup test
	scripts/test kill-full

bench:
	scripts/setup bench
	bench/run $(if $(QUICK),--quick); status=$$?; bench/report && exit $$status

python:
	scripts/setup python
	scripts/python

lint:
	scripts/setup lint
	scripts/lint

format:
	scripts/setup lint
	cargo fmt --all
	cargo fmt --manifest-path python/Cargo.toml
	git ls-files '*.hpp' '*.cpp' '*.h' '*.c' | xargs -r clang-format-16 -i

install:
	cargo build --release -p silverpoint-cli
	cmake -S . -B $(C_BUILD) -DCMAKE_BUILD_TYPE=Release
	cmake --build $(C_BUILD) --target silverpoint_c
	$(MAKE) --no-print-directory install-files

# DESTDIR stages the files for a package.
install-files:
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/silverpoint
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(PROGRAM) man --output $(DESTDIR)$(PREFIX)/share/man/man1
	$(PROGRAM) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/silverpoint
	$(PROGRAM) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_silverpoint
	$(PROGRAM) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/silverpoint.fish
	[ ! -f $(C_BUILD)/lib/libsilverpoint_c.a ] || \
	    install -D -m 644 $(C_BUILD)/lib/libsilverpoint_c.a $(DESTDIR)$(PREFIX)/lib/libsilverpoint_c.a
	cd cpp/include && find silverpoint -type f -exec install -D -m 644 {} $(abspath $(DESTDIR)$(PREFIX))/include/{} \;
