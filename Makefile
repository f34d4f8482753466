# Two commands: `make demo` and `make test`. Each installs what it needs first (scripts/setup).
export PATH := $(HOME)/.cargo/bin:$(PATH)
DEMO_TREE ?= /usr/include

.PHONY: demo test bench kill-test lint format help

help:
	@echo "make demo       run the demonstration on real input (DEMO_TREE=$(DEMO_TREE))"
	@echo "make test       all tests"
	@echo "make kill-test  the 500 rounds of the kill test"
	@echo "make bench      measure, and write bench/results (QUICK=1: about a minute)"
	@echo "make lint       formatting and lints, as in continuous integration"
	@echo "make format     let rustfmt and clang-format decide the layout"

demo:
	scripts/setup demo
	demo/run "$(DEMO_TREE)"

test:
	scripts/setup test
	scripts/test

kill-test:
	scripts/setup test
	scripts/test kill-full

bench:
	scripts/setup bench
	bench/run $(if $(QUICK),--quick)

lint:
	scripts/setup lint
	scripts/lint

format:
	scripts/setup lint
	cargo fmt --all
	git ls-files '*.hpp' '*.cpp' '*.h' '*.c' | xargs -r clang-format-16 -i
