package testbeds

import (
	"context"
	"errors"

	labserve "linerate/internal/lab/serve"
	"linerate/internal/server"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
)

// LocalServers starts servers for studies on this machine.
type LocalServers struct{}

var _ labserve.Service = LocalServers{}

// Start starts the server that the part measures.
func (LocalServers) Start(ctx context.Context, at testbed.Site, settings []setting.Setting, part study.Part) (labserve.Server, error) {
	switch study.RequestsOf(part).Kind {
	case "smtp":
		return startMail(ctx, at, settings, part)
	case "files":
		return startFiles(ctx, at, settings, part)
	}
	return startWeb(ctx, at, settings, part)
}

// diskOf returns the file system that an arm asks for, or the default.
func diskOf(settings []setting.Setting) setting.Disk {
	d := setting.DefaultDisk()
	for _, s := range settings {
		if s.Mechanism == setting.FileSystem {
			d = *s.Disk
		}
	}
	return d
}

// boxWithDisk creates a box for an arm, with a new file system. If this machine lacks a
// requirement, the arm is unavailable.
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
