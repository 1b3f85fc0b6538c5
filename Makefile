# Few targets; everything else is the go command.
.PHONY: build test lab generate check dist

build:
	CGO_ENABLED=0 go build -o linerate ./cmd/linerate

test:
	go test ./...

# The lab's tests, really run: needs root.
lab:
	LINERATE_LAB=required go test -exec sudo ./...

# Regenerate the eBPF objects (clang 14 as in Debian 12, so that they match).
generate:
	go generate ./...

# A release in dist/: packages and archives. The same commit, the same bytes.
dist:
	packaging/release dist

# What CI does.
check:
	.ci/run
