# The everyday commands. Everything here is a thin call of cmake, ctest or a script in
# tools/; the builds themselves are described in CMakePresets.json.

PRESETS      := dev release asan ubsan tsan lto clang arm64
VOLE_JOBS    ?= $(shell nproc)
CTEST_ARGS   ?=

# Our own sources. Vendored or generated code would not be in these folders.
SOURCES = $(shell find src include tests bench examples tools/vole \
            -name '*.cc' -o -name '*.h' 2>/dev/null | sort)

export VOLE_JOBS
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test test-slow test-sanitized test-all bench mutants packages site format check-format tidy clean setup \
        $(PRESETS:%=build-%) $(PRESETS:%=test-%)

help:  ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | \
	  awk -F '|' '{ printf "%-23s%s\n", $$1, $$2 }'
	@echo "  make build-<preset>, test-<preset>: one of $(PRESETS)"

run: setup-run  ## The tour: a program that shows what vole does, within a minute
	@tools/run_tour.sh

test: setup-test build-dev  ## The tests in a debug build, and of what depends on order as shipped
	@VOLE_STRESS_SCALE=$${VOLE_STRESS_SCALE:-0.5} VOLE_MODEL_SCALE=$${VOLE_MODEL_SCALE:-0.25} \
	  tools/test_presets.sh dev -- -LE slow $(CTEST_ARGS)

test-slow: setup-test build-dev  ## What `make test` leaves out because it takes long
	@tools/test_presets.sh dev -- -L slow $(CTEST_ARGS)

test-sanitized: setup-test build-asan build-tsan  ## The tests under asan and tsan
	@tools/test_presets.sh asan tsan -- -LE slow $(CTEST_ARGS)

test-all: setup-test setup-arm64  ## All there is, with a table; continues where it was; FRESH=1: anew
	@python3 -B tools/test_all.py $(if $(FRESH),--fresh)

bench: setup-bench  ## Ours against the peers
	python3 bench/run.py

mutants: setup-test  ## Remove each rule of the scheduler in turn: does its test fail?
	@cmake --preset dev --log-level=WARNING >/dev/null
	python3 -B tools/mutants/run.py

packages: setup setup-packages  ## Debian packages: libvole, libvole-dev, vole-tools
	@tools/make_packages.sh

site: setup-site  ## The documents as pages, with a reference and a search: build/site/html
	@python3 -B tools/make_site.py --root . --out build/site

format:  ## Lay out the sources with clang-format
	@tools/setup.sh lint
	clang-format -i $(SOURCES)

check-format:  ## Say what `make format` would change
	@tools/setup.sh lint
	clang-format --dry-run --Werror $(SOURCES)

tidy: setup-test  ## clang-tidy over src/
	@tools/setup.sh lint
	@cmake --preset clang -DVOLE_CCACHE=OFF >/dev/null
	find src -name '*.cc' ! -name '*_test.cc' ! -path 'src/arch/arm64/*' -print0 | \
	  xargs -0 -n 1 -P $(VOLE_JOBS) clang-tidy -p build/clang --quiet

clean:  ## Remove every build
	rm -rf build

setup:  ## Install what is missing
	@tools/setup.sh build

# What only some builds need.
.PHONY: setup-run setup-site setup-packages setup-test setup-bench setup-arm64
setup-test setup-bench setup-arm64: setup-%: setup
	@tools/setup.sh $*
setup-run setup-site setup-packages: setup-%:
	@tools/setup.sh $*
build-clang build-asan build-ubsan build-tsan: setup-test
build-arm64: setup-arm64

$(PRESETS:%=build-%): build-%: setup
	@cmake --preset $* --log-level=WARNING >/dev/null
	@echo "building $*"
	@cmake --build --preset $* --parallel $(VOLE_JOBS)

$(PRESETS:%=test-%): test-%: build-%
	@tools/test_presets.sh $* -- $(CTEST_ARGS)
