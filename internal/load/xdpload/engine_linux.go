package xdpload

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
)

type engine struct{}

// New returns the engine.
func New() load.Engine { return engine{} }

// Name is "xdp".
func (engine) Name() string { return Name }

// ErrNotHere says that this machine cannot do live frames or XDP: another
// engine is wanted. It is joined with the reason.
var ErrNotHere = errors.New("no eBPF traffic here")

// loadError explains why the kernel did not take a program.
func loadError(what string, err error) error {
	err = &notHere{fmt.Errorf("%s: %w", what, err)}
	var verifier *ebpf.VerifierError
	switch {
	case errors.As(err, &verifier):
		return hint.With(err, "this kernel may be too old (5.18 or later is needed): use --engine af_packet")
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return hint.With(err, "eBPF needs root or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON; without them use --engine af_packet in a user namespace (unshare -rn)")
	case errors.Is(err, unix.EINVAL), errors.Is(err, ebpf.ErrNotSupported):
		return hint.With(err, "live frames need Linux 5.18 or later: use --engine af_packet")
	}
	return err
}

// notHere marks an error as ErrNotHere without repeating it in the text.
type notHere struct{ error }

func (e *notHere) Unwrap() error        { return e.error }
func (e *notHere) Is(target error) bool { return target == ErrNotHere }
