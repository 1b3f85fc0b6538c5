package apply

import (
	"context"
	"errors"

	"linerate/internal/knob"
)

// errDryRun aborts a run before its first change.
var errDryRun = errors.New("dry run")

// dryRun is a Machine that reads the host but changes nothing.
type dryRun struct {
	Machine
	would func(Transaction)
}

// DryRun returns m without the ability to change: it passes what would be applied to would, and
// writes nothing on the host.
func DryRun(m Machine, would func(Transaction)) Machine { return dryRun{m, would} }

func (d dryRun) Apply(_ context.Context, t Transaction) (string, map[knob.Key]string, error) {
	d.would(t)
	return "", nil, errDryRun
}

func (d dryRun) Ready(context.Context) error                            { return errDryRun }
func (d dryRun) Confirm(context.Context, string) (string, error)        { return "", errDryRun }
func (d dryRun) Revert(context.Context, string, string) (string, error) { return "", errDryRun }
func (d dryRun) Rollback(context.Context, string) (string, error)       { return "", errDryRun }
func (d dryRun) Reboot(context.Context) error                           { return errDryRun }
