package membench

import "unsafe"

//go:noescape
func copyOrdinary(dst, src unsafe.Pointer, n uintptr)

//go:noescape
func copyStreaming(dst, src unsafe.Pointer, n uintptr)

// copier returns the copy loop of a kind. Go's own copy is no ordinary one:
// above a megabyte it stores past the cache by itself.
func copier(k Kind) func(dst, src []byte) {
	loop := copyOrdinary
	if k == Streaming {
		loop = copyStreaming
	}
	return func(dst, src []byte) {
		n := min(len(dst), len(src)) &^ (line - 1)
		if n > 0 {
			loop(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), uintptr(n))
		}
	}
}

// kinds are the stores that this processor's loops are written for.
var kinds = []Kind{Ordinary, Streaming}

const missing = ""
