//go:build !linux && !freebsd

package testbeds

import (
	"fmt"
	"io"
	"runtime"

	"linerate/internal/hint"
	"linerate/internal/load"
)

// Auto is the name of whichever engine works.
const AutoEngine = "auto"

// Named returns no engine: there is none here.
func EngineNamed(string, io.Writer) (load.Engine, error) {
	return nil, hint.With(fmt.Errorf("traffic needs Linux's network namespaces and eBPF, this is %s", runtime.GOOS),
		"every other command works here")
}
