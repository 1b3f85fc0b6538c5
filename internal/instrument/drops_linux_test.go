package instrument

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"linerate/internal/drop"
	"linerate/internal/hint"
)

// TestNames: a reason that the kernel names, one that it does not know, and a function that gave none.
func TestNames(t *testing.T) {
	c := &DropCounter{names: map[uint32]string{2: "not specified", 5: "no socket"}, functions: func(at uint64) string { return fmt.Sprintf("f%d", at) }}
	for key, want := range map[dropsDropsKey]string{
		{Reason: 5}: "no socket", {Reason: 99}: "reason 99", {Reason: 99, Location: 7}: "reason 99", {Reason: 2, Location: 7}: drop.Silent + "f7", {Reason: 2}: "not specified",
	} {
		if got, err := c.name(key); err != nil || got != want {
			t.Errorf("%+v: %q, %v; want %q", key, got, err, want)
		}
	}
}

// TestRefused says what a program that counts drops needs: rights, or another kernel.
func TestRefused(t *testing.T) {
	for err, want := range map[error]string{unix.EPERM: "CAP_BPF", unix.EACCES: "CAP_BPF", unix.EINVAL: "Linux 5.17", errors.New("no BTF"): "CONFIG_DEBUG_INFO_BTF"} {
		got := refused("attach", fmt.Errorf("link: %w", err))
		if !errors.Is(got, err) || !strings.HasPrefix(got.Error(), "attach the program") || !strings.Contains(hint.Of(got), want) {
			t.Errorf("%v (%s), want %q", got, hint.Of(got), want)
		}
	}
}
