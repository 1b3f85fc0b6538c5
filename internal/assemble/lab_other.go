//go:build !linux && !freebsd

package assemble

import (
	"context"
	"fmt"
	"runtime"

	"linerate/internal/hint"
	"linerate/internal/study"
)

// Local opens this machine's lab, which has none.
func Local(context.Context, Options) (*Testbed, error) { return nil, errNoLab() }

// Inside refuses before anything is announced.
func Inside(context.Context, func() error) error { return errNoLab() }

func errNoLab() error {
	return hint.With(fmt.Errorf("the lab needs Linux's network namespaces and eBPF, this is %s", runtime.GOOS),
		"every other command works here")
}

// Bed is what a demo's packets pass through.
const Bed = "network namespaces"

// Carries has nothing to refuse: Inside does.
func Carries(study.Spec) error { return nil }

// system is that of the lab that a schedule printed here is for.
const system = "linux"

// lacks is known where the lab is.
func lacks(study.Setting) string { return "" }
