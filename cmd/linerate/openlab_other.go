//go:build !linux

package main

import (
	"context"
	"fmt"
	"runtime"

	"linerate/internal/hint"
)

func openMachineLab(context.Context, labOptions) (*openedLab, error) {
	return nil, errNoLab()
}

// inLab refuses before anything is announced.
func inLab(context.Context, func() error) error { return errNoLab() }

func errNoLab() error {
	return hint.With(fmt.Errorf("the lab needs Linux's network namespaces and eBPF, this is %s", runtime.GOOS),
		"every other verb works here: linerate --help")
}
