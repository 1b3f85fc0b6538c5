package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/cli"
)

// TestYourMachines runs the check, a study of settings and one of boots on a testbed of machines
// that can be rebooted, virtual or not:
//
//	LINERATE_TESTBED=lab.yaml LINERATE_SSH_CONFIG=ssh_config go test ./cmd/linerate -run TestYourMachines -v -timeout 60m
//
// LINERATE_TESTBED_SYSCTL (NAME=VALUE) is what the variants set; it must differ from the DUT's
// current value.
func TestYourMachines(t *testing.T) {
	bed, config := os.Getenv("LINERATE_TESTBED"), os.Getenv("LINERATE_SSH_CONFIG")
	if bed == "" {
		t.Skip("set LINERATE_TESTBED to a testbed's file to reboot its DUT")
	}
	name, value := "net.inet.ip.redirect", "0"
	if set := os.Getenv("LINERATE_TESTBED_SYSCTL"); set != "" {
		var ok bool
		if name, value, ok = strings.Cut(set, "="); !ok {
			t.Fatalf("LINERATE_TESTBED_SYSCTL=%s is not NAME=VALUE", set)
		}
	}
	ssh := func(args ...string) []string {
		if config != "" {
			args = append(args, "--ssh-config", config)
		}
		return args
	}
	try := func(args ...string) {
		t.Helper()
		if code := run(args, strings.NewReader(""), os.Stdout, os.Stderr); code != cli.ExitOK {
			t.Fatalf("linerate %s: exit %d", strings.Join(args, " "), code)
		}
	}
	try(ssh("lab", "check", bed)...)
	dir := t.TempDir()
	file, err := os.ReadFile(bed)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"lab.yaml": string(file), "set/etc/sysctl.conf": name + "=" + value + "\n", "set/etc/sysctl.d/99-test.conf": name + "=" + value + "\n"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for reset, set := range map[string]string{"settings": fmt.Sprintf("{sysctl: %s, value: %q}", name, value), "reboot": "{files: set}"} {
		study := filepath.Join(dir, reset+".yaml")
		text := fmt.Sprintf("name: %s\nquestion: Does it work?\ntestbed: {kind: ssh, file: lab.yaml}\nreset: %s\nvariants:\n  - name: none\n  - name: set\n    settings: [%s]\nparts:\n  - {seconds: 1, warmup: 0.5, blocks: 1}\ngates: {headroom: 1, unsent_percent: 100, pacing_percent: 100}\n", reset, reset, set)
		if err := os.WriteFile(study, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		record := filepath.Join(dir, "record-"+reset)
		try(ssh("study", "run", study, "--out", record, "--ledger=none")...)
		trials, err := os.ReadFile(filepath.Join(record, "trials.jsonl"))
		if err != nil || !strings.Contains(string(trials), name) || strings.Contains(string(trials), `"unavailable":"`) || reset == "reboot" && !strings.Contains(string(trials), `"boot":{"before":"`) {
			t.Errorf("%s: %v\n%.4000s", reset, err, trials)
		}
	}
}
