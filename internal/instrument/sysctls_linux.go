package instrument

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"linerate/internal/fact/linux"
	"linerate/internal/hint"
)

// WatchSysctls calls each for every write to a sysctl by a process in a cgroup until the
// context ends, and ready once it is watching. A link holds the BPF program, so the kernel
// removes it when this process ends.
func WatchSysctls(ctx context.Context, cgroup string, ready func(), each func(*Write) error) error {
	var objs sysctlsObjects
	if err := loadSysctlsObjects(&objs, nil); err != nil {
		return cannotWatch("load", err)
	}
	defer objs.Close()
	group, err := os.Open(cgroup)
	if err != nil {
		return fmt.Errorf("open the cgroup: %w", err)
	}
	defer group.Close()
	l, err := link.AttachRawLink(link.RawLinkOptions{Target: int(group.Fd()), Program: objs.Written, Attach: ebpf.AttachCGroupSysctl})
	if err != nil {
		return cannotWatch("attach", err)
	}
	defer l.Close()
	r, err := ringbuf.NewReader(objs.Writes)
	if err != nil {
		return fmt.Errorf("read writes to sysctls: %w", err)
	}
	defer r.Close()
	defer context.AfterFunc(ctx, func() { r.Close() })()
	var here unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &here); err != nil {
		return fmt.Errorf("find this network namespace: %w", err)
	}
	ready()
	for {
		record, err := r.Read()
		if errors.Is(err, os.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read writes to sysctls: %w", err)
		}
		var raw sysctlsWrite
		if err := binary.Read(bytes.NewReader(record.RawSample), binary.NativeEndian, &raw); err != nil {
			return fmt.Errorf("read a write of %d bytes: %w", len(record.RawSample), err)
		}
		if err := each(writeOf(&raw, uint32(here.Ino))); err != nil {
			return err
		}
	}
}

func cannotWatch(what string, err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return hint.With(fmt.Errorf("%s the program that watches sysctls: not permitted", what), "it needs root, or CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN")
	}
	return hint.With(fmt.Errorf("%s the program that watches sysctls: %w", what, err), "it needs Linux 5.10 or later with CONFIG_CGROUP_BPF and BTF")
}

func writeOf(raw *sysctlsWrite, here uint32) *Write {
	w := &Write{At: time.Now(), Name: linux.Name(text(raw.Name[:])), Old: text(raw.Old[:]), New: text(raw.New[:]), Elsewhere: raw.Netns != here, Lost: int(raw.Lost)}
	for _, p := range raw.Chain {
		if p.Pid == 0 {
			break
		}
		w.Chain = append(w.Chain, Process{int(p.Pid), text(p.Comm[:])})
	}
	if len(w.Chain) > 0 {
		w.Exe, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", w.Chain[0].PID))
	}
	for i := range raw.Group {
		if g := text(raw.Group[i][:]); g != "" && g != "/" {
			w.Groups = append(w.Groups, g)
		}
	}
	w.place()
	return w
}

// text converts a C string, which may fill the array without a NUL, and trims spaces.
func text(b []int8) string {
	var s strings.Builder
	for _, c := range b {
		if c == 0 {
			break
		}
		s.WriteByte(byte(c))
	}
	return strings.TrimSpace(s.String())
}
