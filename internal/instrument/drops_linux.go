package instrument

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"linerate/internal/drop"
	"linerate/internal/hint"
	"linerate/internal/port"
)

// DropCounter counts from when it is attached until it is closed.
type DropCounter struct {
	objs  dropsObjects
	link  link.Link
	names map[uint32]string
	// functions names places in the kernel's code; read when first needed.
	functions func(address uint64) string
}

// CountDrops begins to count the packets dropped in the namespace of a place. An
// error says why this kernel does not tell.
func CountDrops(in port.Place) (*DropCounter, error) {
	c := &DropCounter{}
	var err error
	if c.names, err = names(); err != nil {
		return nil, err
	}
	spec, err := loadDrops()
	if err != nil {
		return nil, fmt.Errorf("read the program that counts drops: %w", err)
	}
	netns, err := inode(in)
	if err != nil {
		return nil, err
	}
	if err := spec.Variables["config"].Set(dropsDropsConfig{Netns: netns}); err != nil {
		return nil, fmt.Errorf("configure the program that counts drops: %w", err)
	}
	if err := spec.LoadAndAssign(&c.objs, nil); err != nil {
		return nil, refused("load", err)
	}
	c.link, err = link.AttachTracing(link.TracingOptions{Program: c.objs.Dropped, AttachType: ebpf.AttachTraceRawTp})
	if err != nil {
		return nil, errors.Join(refused("attach", err), c.objs.Close())
	}
	return c, nil
}

func refused(what string, err error) error {
	err = fmt.Errorf("%s the program that counts drops: %w", what, err)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return hint.With(err, "the kernel's drop reasons need root, or CAP_BPF and CAP_PERFMON")
	}
	return hint.With(err, "drop reasons need Linux 5.17 or later with BTF and BPF tracepoints (CONFIG_DEBUG_INFO_BTF, CONFIG_BPF_EVENTS)")
}

// names are the kernel's reasons by number.
func names() (map[uint32]string, error) {
	kernel, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, hint.With(fmt.Errorf("read the kernel's types: %w", err), "drop reasons need a kernel built with CONFIG_DEBUG_INFO_BTF")
	}
	var reasons *btf.Enum
	if err := kernel.TypeByName("skb_drop_reason", &reasons); err != nil {
		return nil, hint.With(fmt.Errorf("find the kernel's drop reasons: %w", err), "they came with Linux 5.17")
	}
	out := map[uint32]string{}
	for _, v := range reasons.Values {
		out[uint32(v.Value)] = drop.ReasonName(v.Name)
	}
	return out, nil
}

func inode(in port.Place) (n uint32, err error) {
	err = in(func() error {
		var s unix.Stat_t
		if err := unix.Stat("/proc/thread-self/ns/net", &s); err != nil {
			return fmt.Errorf("tell the network namespace: %w", err)
		}
		n = uint32(s.Ino)
		return nil
	})
	return n, err
}

// Read is what was dropped so far, by the names of the reasons. What was
// dropped without a reason goes by the function that did it: "in ip_error".
func (c *DropCounter) Read() (drop.Counters, error) {
	out := drop.Counters{}
	var key dropsDropsKey
	var perCPU []uint64
	entries := c.objs.Reasons.Iterate()
	for entries.Next(&key, &perCPU) {
		name, err := c.name(key)
		if err != nil {
			return nil, err
		}
		for _, n := range perCPU {
			out[name] += n
		}
	}
	if err := entries.Err(); err != nil {
		return nil, fmt.Errorf("read the kernel's drop reasons: %w", err)
	}
	return out, nil
}

// name of a reason, or of the function that gave none.
func (c *DropCounter) name(key dropsDropsKey) (string, error) {
	name, known := c.names[key.Reason]
	switch {
	case !known:
		return fmt.Sprintf("reason %d", key.Reason), nil
	case key.Location == 0:
		return name, nil
	}
	if c.functions == nil {
		f, err := Functions()
		if err != nil {
			return name, nil //nolint:nilerr // addresses are hidden: the reason alone says what it can
		}
		c.functions = f
	}
	return drop.Silent + c.functions(key.Location), nil
}

// Close ends counting.
func (c *DropCounter) Close() error { return errors.Join(c.link.Close(), c.objs.Close()) }

// Reasons counts the packets dropped in the namespace of a place.
func (Local) Reasons(dut port.Place) (end func() (drop.Counters, error), err error) {
	c, err := CountDrops(dut)
	if err != nil {
		return nil, err
	}
	return func() (drop.Counters, error) {
		defer c.Close()
		return c.Read()
	}, nil
}
