//go:build !linux && !freebsd

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"linerate/internal/hint"
	"linerate/internal/load"
	"linerate/internal/study"
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

// demoBed is what the demo's packets pass through.
const demoBed = "network namespaces"

// carries has nothing to refuse: inLab does.
func carries(study.Spec) error { return nil }

// labSystem is the system of the lab that a schedule printed here is for.
const labSystem = "linux"

// bedLacks is known where the lab is.
func bedLacks(study.Setting) string { return "" }

// engineNamed: there is none here.
func engineNamed(string, io.Writer) (load.Engine, error) { return nil, errNoLab() }

// helpers are the commands that are not for people: none here.
func helpers() []*cobra.Command { return nil }
