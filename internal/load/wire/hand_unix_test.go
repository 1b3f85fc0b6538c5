//go:build linux || freebsd

package wire_test

import (
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load/wire"
)

// TestHand: one process opens a descriptor and another uses it; errors are passed on with their hint.
func TestHand(t *testing.T) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	open := func(o wire.Order) (wire.Opened, error) {
		return wire.Opened{File: w, Device: wire.Device{Name: o.Device, MTU: 1500}, Buffer: 7}, nil
	}
	if err := wire.Hand(pair[0], wire.Order{Device: "gen0"}, open); err != nil {
		t.Fatal(err)
	}
	got, err := wire.Take(pair[1])
	if err != nil || got.Device.Name != "gen0" || got.Device.MTU != 1500 || got.Buffer != 7 {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := got.File.WriteString("hi"); err != nil {
		t.Fatal(err)
	}
	got.File.Close()
	if b, err := io.ReadAll(r); err != nil || string(b) != "hi" {
		t.Errorf("through the descriptor came %q, %v", b, err)
	}
	refuse := func(wire.Order) (wire.Opened, error) {
		return wire.Opened{}, hint.With(errors.New("no gen9"), "kldload if_epair")
	}
	if err := wire.Hand(pair[0], wire.Order{Device: "gen9"}, refuse); err != nil {
		t.Fatal(err)
	}
	if _, err := wire.Take(pair[1]); err == nil || err.Error() != "no gen9" || hint.Of(err) != "kldload if_epair" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	unix.Close(pair[0])
	if _, err := wire.Take(pair[1]); err == nil {
		t.Error("a process without output gave a descriptor")
	}
}
