package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// kept are what a detached command still needs of the environment it was started in.
var kept = []string{"PATH", "HOME", "USER", "SUDO_UID", "SUDO_GID", "SUDO_USER", "DOAS_USER", "SSH_AUTH_SOCK", "LINERATE_LEDGER", "XDG_STATE_HOME", "LINERATE_ROOT", "LINERATE_INIT"}

// Detach starts a program that outlives this one and its terminal, in the directory that
// this one is in, and appends what it says to a log. how says by what it was started.
func Detach(ctx context.Context, argv []string, log string) (how string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("start in the background: %w", err)
	}
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return "", fmt.Errorf("start in the background: %w", err)
	}
	defer file.Close()
	starter, how := starterOf(runtime.GOOS, filepath.Base(log), dir, log)
	if starter == nil {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr = file, file
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return "", fmt.Errorf("start in the background: %w", err)
		}
		return fmt.Sprintf("process %d", cmd.Process.Pid), cmd.Process.Release()
	}
	out, err := exec.CommandContext(ctx, starter[0], append(starter[1:], argv...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("start by %s: %w: %s", starter[0], err, strings.TrimSpace(string(out)))
	}
	return how, nil
}

// starterOf is what starts programs in the background here; nil where nothing is but the
// system call.
func starterOf(goos, name, dir, log string) (argv []string, how string) {
	if goos == "freebsd" {
		return []string{"daemon", "-f", "-o", log}, "daemon(8)"
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil || os.Getuid() != 0 {
		return nil, ""
	}
	unit := strings.TrimSuffix(name, ".log")
	argv = []string{"systemd-run", "--quiet", "--collect", "--unit=" + unit, "-p", "WorkingDirectory=" + dir, "-p", "StandardOutput=append:" + log, "-p", "StandardError=append:" + log}
	for _, k := range kept {
		if v, ok := os.LookupEnv(k); ok {
			argv = append(argv, "--setenv="+k+"="+v)
		}
	}
	return argv, "unit " + unit
}
