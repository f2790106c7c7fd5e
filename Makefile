# make demo: build and optimise a real module. make test: build and run every test.
.PHONY: build demo test bench clean

build:
	@scripts/setup
	@cmake --preset dev >build-configure.log 2>&1 || { cat build-configure.log; exit 1; }
	@cmake --build build

demo:
	@scripts/demo

test:
	@scripts/test

bench: build
	@build/cairn bench programs

clean:
	rm -rf build build-*
