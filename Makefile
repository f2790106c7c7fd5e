# make demo: build and optimise a real module. make test: build and run every test.
# make nightly: the long property runs.
.PHONY: build demo test nightly bench clean

build:
	@scripts/setup
	@cmake --preset dev >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
	@cmake --build build

demo:
	@scripts/demo

test:
	@scripts/test

nightly:
	@scripts/test -L nightly

bench: build
	@build/cairn bench programs

clean:
	rm -rf build build-*
