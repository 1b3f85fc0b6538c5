package xdpload

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"

	"linerate/internal/hint"
	"linerate/internal/load"
)

type engine struct{}

// New returns the engine.
func New() load.Engine { return engine{} }

func (engine) Name() string { return Name }

// Available checks that the kernel has what the programs need. Live frames
// cannot be probed; bpf_xdp_get_buff_len appeared in the same release, 5.18.
func (engine) Available() error {
	for _, f := range []struct {
		what string
		have func() error
	}{
		{"XDP programs", func() error { return features.HaveProgramType(ebpf.XDP) }},
		{"device maps", func() error { return features.HaveMapType(ebpf.DevMap) }},
		{"ring buffers", func() error { return features.HaveMapType(ebpf.RingBuf) }},
		{"live frames", func() error { return features.HaveProgramHelper(ebpf.XDP, asm.FnXdpGetBuffLen) }},
	} {
		if err := f.have(); err != nil {
			return loadError("use "+f.what, err)
		}
	}
	if !canTrace() {
		return hint.With(load.NotHere(errors.New("this kernel has no BTF with the tracepoints of XDP (CONFIG_DEBUG_INFO_BTF), which tell what a device refused")), "the af_packet engine needs none")
	}
	return nil
}

// canTrace reports whether the kernel has the tracepoints for refused frames, with the
// types of their arguments.
func canTrace() bool {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return false
	}
	for _, name := range []string{"btf_trace_xdp_devmap_xmit", "btf_trace_xdp_redirect_err"} {
		var t *btf.Typedef
		if kernel.TypeByName(name, &t) != nil {
			return false
		}
	}
	return true
}

// loading is how a file of programs is loaded: the values of its variables, how many entries its maps
// have, and the maps that it shares with others.
type loading struct {
	what      string
	variables map[string]any
	entries   map[string]int
	shared    map[string]*ebpf.Map
}

func (l loading) into(objs any, read func() (*ebpf.CollectionSpec, error)) error {
	spec, err := read()
	if err != nil {
		return fmt.Errorf("read %s: %w", l.what, err)
	}
	for name, value := range l.variables {
		if err := spec.Variables[name].Set(value); err != nil {
			return fmt.Errorf("configure %s: %w", l.what, err)
		}
	}
	for name, n := range l.entries {
		spec.Maps[name].MaxEntries = uint32(n)
	}
	if err := spec.LoadAndAssign(objs, &ebpf.CollectionOptions{MapReplacements: l.shared}); err != nil {
		return loadError("load "+l.what, err)
	}
	return nil
}

// loadError explains why the kernel rejected a program.
func loadError(what string, err error) error {
	err = load.NotHere(fmt.Errorf("%s: %w", what, err))
	var verifier *ebpf.VerifierError
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return hint.With(err, "eBPF needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON: packets are then sent by XDP, several times as many, and drops have their reasons; the af_packet engine does without, in a user namespace of any user's")
	case errors.As(err, &verifier):
		return hint.With(err, "this kernel may be too old (5.18 or later is needed): the af_packet engine needs no eBPF")
	case errors.Is(err, unix.EINVAL), errors.Is(err, ebpf.ErrNotSupported):
		return hint.With(err, "live frames need Linux 5.18 or later: the af_packet engine does without")
	}
	return err
}
