package netnsbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"linerate/internal/hint"
)

// userNS is set for a process that was restarted in a user namespace.
const userNS = "LINERATE_USER_NAMESPACE"

// InUserNamespace reports whether this process is root only inside a user
// namespace that Enter created.
func InUserNamespace() bool { return os.Getenv(userNS) != "" }

// NeedsUserNamespace reports whether this process cannot create network
// namespaces without one.
func NeedsUserNamespace() bool {
	return !InUserNamespace() && errors.Is(onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET) }), unix.EPERM)
}

// Enter runs this program again, with the same arguments, as root of a new
// user namespace, and returns its exit code: there it may create network
// namespaces, but cannot use eBPF or the kernel's threads. Interrupts reach
// the child through the process group; a cancelled ctx interrupts it.
func Enter(ctx context.Context) (exitCode int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, os.Args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(unix.SIGINT) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), userNS+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	// The death signal is tied to the thread that started the child, so that
	// thread must live as long as the child.
	err = onThread(cmd.Run)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, hint.With(fmt.Errorf("start in a user namespace: %w", err), "%s", whyNoUserNamespace())
	}
	return 0, nil
}

// whyNoUserNamespace names the setting that is usually the reason.
func whyNoUserNamespace() string {
	for _, k := range []struct{ file, bad, advice string }{
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=1000"},
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0"},
	} {
		if readLine(k.file) == k.bad {
			return "run it as root (sudo, doas or su), or allow user namespaces: " + strings.TrimSpace(k.advice)
		}
	}
	return "run it as root (sudo, doas or su)"
}
