// Package servers starts the servers that a study asks, each with the load for it.
package servers

import (
	"context"
	"errors"

	labserve "linerate/internal/lab/serve"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/setting/fsconf"
	"linerate/internal/study"
	"linerate/internal/study/serve"
	"linerate/internal/testbed"
)

// Local starts, on this machine, the kinds of servers that a study can measure.
type Local struct{}

var _ labserve.Service = Local{}

// Start starts what the part asks for.
func (Local) Start(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (labserve.Server, error) {
	switch serve.RequestsOf(part).Kind {
	case "smtp":
		return startMail(ctx, at, settings, part)
	case "files":
		return startFiles(ctx, at, settings, part)
	}
	return webService{}.Start(ctx, at, settings, part)
}

// diskOf is the file system that an arm asks for, or the usual one.
func diskOf(settings []setting.Setting) fsconf.Disk {
	d := fsconf.Default()
	for _, s := range settings {
		if s.Mechanism == setting.FileSystem {
			d = *s.Disk
		}
	}
	return d
}

// boxWithDisk makes a place for an arm with a file system of its own. What
// this machine cannot do makes the arm unavailable.
func boxWithDisk(at testbed.Site, settings []setting.Setting, fill func(*server.Box) error) (*server.Box, error) {
	box, err := server.NewBox(at.Server)
	if err != nil {
		return nil, err
	}
	d := diskOf(settings)
	if err := box.MakeDisk(d, func() error { return fill(box) }); err != nil {
		box.Close()
		var cannot *server.CannotError
		var missing *server.MissingError
		if errors.As(err, &cannot) || errors.As(err, &missing) {
			return nil, &testbed.ErrUnavailable{Setting: d.String(), Reason: err.Error()}
		}
		return nil, err
	}
	return box, nil
}
