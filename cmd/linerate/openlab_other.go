//go:build !linux && !freebsd

package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

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

// helpers are the commands that are not for people: none here.
func helpers() []*cobra.Command { return nil }
