# For everything else use the go command.
.PHONY: build test lab generate check dist

build:
	CGO_ENABLED=0 go build -o linerate ./cmd/linerate

test:
	go test ./...

# All tests, with the lab's required to run; needs root.
lab:
	LINERATE_LAB=required go test -exec sudo ./...

# Regenerate the eBPF objects; needs Debian 12's clang 14 for identical bytes.
generate:
	go generate ./...

# Build a release in dist/: packages and archives, reproducible per commit.
dist:
	packaging/release dist

# Run what CI runs.
check:
	.ci/run
