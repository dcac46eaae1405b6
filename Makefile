# Short names for the scripts, which also work alone.
.PHONY: build demo test bench compare format lint fuzz clean

build:
	@scripts/build
demo:
	@scripts/demo
test:
	@scripts/test
bench:
	@bench/run
	@bench/packet
compare:
	@bench/compare/run
format:
	@scripts/format
lint:
	@scripts/lint
fuzz:
	@scripts/fuzz
clean:
	rm -rf build trunkline-out
