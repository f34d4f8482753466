# Two commands: `make demo` and `make test`. Each installs what it needs first (scripts/setup).
export PATH := $(HOME)/.cargo/bin:$(PATH)
DEMO_TREE ?= /usr/include

PREFIX ?= /usr/local
# What is installed as the program; built when it is this one.
PROGRAM ?= $(or $(CARGO_TARGET_DIR),target)/release/silverpoint
# Profile of libsilverpoint.
SILVERPOINT_CARGO_PROFILE ?= release
# Where the libraries are built.
C_BUILD ?= $(or $(CARGO_TARGET_DIR),target)/c

.PHONY: demo test test-all arrow install-arrow bench kill-test crash-test python lint format install install-files uninstall help

help:
	@echo "make demo       run the demonstration on real input (DEMO_TREE=$(DEMO_TREE))"
	@echo "make test       the tests that a change needs: Rust, C++, C, Qt"
	@echo "make test-all   every test: AArch64, loom, Miri, fuzzing, instruction counts, kill and crash tests, Python too"
	@echo "make arrow      build and test silverpoint-arrow: Parquet and Arrow for 'silverpoint convert'"
	@echo "make kill-test  the 500 rounds of the kill test"
	@echo "make crash-test crashes at any moment, 300 rounds of each kind in Rust and C++"
	@echo "make bench      measure, and write bench/results: half an hour at most (QUICK=1: less)"
	@echo "make install    program, manual pages, completions, headers, libsilverpoint, CMake's package and .pc files under PREFIX=$(PREFIX)"
	@echo "make uninstall  remove what make install has put there"
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

# Cargo and CMake show what they build. SILVERPOINT_CARGO_PROFILE is the profile of libsilverpoint.
install:
	cargo build --release -p silverpoint-cli
	cmake -S . -B $(C_BUILD) -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DCMAKE_INSTALL_LIBDIR=lib -DSILVERPOINT_LOGGER=ON \
	    -DSILVERPOINT_CARGO_PROFILE=$(SILVERPOINT_CARGO_PROFILE) -DSILVERPOINT_CARGO_TARGET_DIR=$(abspath $(or $(CARGO_TARGET_DIR),target))
	cmake --build $(C_BUILD)
	$(MAKE) --no-print-directory install-files

# DESTDIR stages the files for a package. Headers, libsilverpoint static and shared, libsilverpoint_c, CMake's package and .pc files are
# those that `make install` has built; without them the headers alone.
install-files:
	install -D -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/silverpoint
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(PROGRAM) man --output $(DESTDIR)$(PREFIX)/share/man/man1
	$(PROGRAM) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/silverpoint
	$(PROGRAM) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_silverpoint
	$(PROGRAM) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/silverpoint.fish
	if [ -f $(C_BUILD)/cmake_install.cmake ]; then DESTDIR=$(DESTDIR) cmake --install $(C_BUILD) --prefix $(abspath $(PREFIX)) >$(C_BUILD)/install.log || { cat $(C_BUILD)/install.log; exit 1; }; \
	else cd cpp/include && find silverpoint -type f -exec install -D -m 644 {} $(abspath $(DESTDIR)$(PREFIX))/include/{} \; ; fi
	@echo "installed under $(DESTDIR)$(PREFIX)"

# What `make install` has put there, and nothing else.
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/silverpoint $(DESTDIR)$(PREFIX)/share/man/man1/silverpoint.1 $(DESTDIR)$(PREFIX)/share/man/man1/silverpoint-*.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/silverpoint $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_silverpoint \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/silverpoint.fish \
	    $(DESTDIR)$(PREFIX)/lib/libsilverpoint.a $(DESTDIR)$(PREFIX)/lib/libsilverpoint.so $(DESTDIR)$(PREFIX)/lib/libsilverpoint.so.0 \
	    $(DESTDIR)$(PREFIX)/lib/libsilverpoint_c.a $(DESTDIR)$(PREFIX)/lib/pkgconfig/silverpoint.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/silverpoint_c.pc
	rm -rf $(DESTDIR)$(PREFIX)/include/silverpoint $(DESTDIR)$(PREFIX)/lib/cmake/silverpoint
