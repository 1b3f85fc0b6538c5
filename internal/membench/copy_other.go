//go:build !amd64

package membench

// copier returns Go's copy.
func copier(Kind) func(dst, src []byte) { return func(dst, src []byte) { copy(dst, src) } }

// kinds are the stores that this processor's loops are written for.
var kinds = []Kind{Ordinary}

const missing = "Non-temporal stores are measured on amd64 only; the ordinary ones are those of Go's copy, which may bypass the cache by itself."
