package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/ledgers"
	"linerate/internal/capture"
	"linerate/internal/cli"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/ledger"
	"linerate/internal/show"
)

const fleetLong = `Sweep simulated hosts twice, as linerate fleet sweep does. Each host is an address of
127/8 with a host key of its own behind an SSH server of the bench's, and answers with a
capture of this machine that is made its own: identity, name, uptime, counters and one of
five lists of settings. Some hosts fail at first, in three ways, some never answer, some
print without end. Between the two nights all counters move on, and on one host of a
hundred somebody sets something. The sweep runs in a process of its own, whose memory
and CPU time are reported; the simulated hosts take their share of the same CPUs.`

type fleetBench struct {
	hosts, parallel, floods int
	seed                    uint64
	delay                   time.Duration
	flaky, dead             float64
	asJSON                  bool
}

func newFleetCmd() *cobra.Command {
	var o fleetBench
	cmd := &cobra.Command{
		Use: "fleet", Short: "measure sweeps of a simulated fleet: time, memory, losses", Long: fleetLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.hosts < 1 || o.hosts > 1<<20 || o.flaky < 0 || o.dead < 0 || o.flaky+o.dead > 1 {
				return hint.Usagef("--hosts is from 1 to 1048576, and --flaky and --dead are shares")
			}
			if runtime.GOOS != "linux" {
				return hint.Usagef("the simulated hosts are addresses of 127/8, which only Linux answers for without more")
			}
			r, err := benchFleet(cmd, &o)
			if err != nil {
				return err
			}
			if o.asJSON {
				return cli.PrintJSON(cmd.OutOrStdout(), r)
			}
			return r.print(cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.hosts, "hosts", 1000, "hosts to simulate")
	f.IntVar(&o.parallel, "parallel", 200, "connections at a time")
	f.IntVar(&o.floods, "floods", 5, "hosts that print without end")
	f.DurationVar(&o.delay, "delay", time.Second, "what a capture takes on a host, on average")
	f.Float64Var(&o.flaky, "flaky", 0.03, "share of hosts whose first one or two tries fail")
	f.Float64Var(&o.dead, "dead", 0.002, "share of hosts that never answer")
	f.Uint64Var(&o.seed, "seed", 1, "of all that is chance")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON document")
	return cmd
}

// fleetResult is what the bench prints with --json.
type fleetResult struct {
	Version  int     `json:"version"`
	Hosts    int     `json:"hosts"`
	Parallel int     `json:"parallel"`
	DelayMS  float64 `json:"delay_ms"`
	CPUs     int     `json:"cpus"`
	Load     string  `json:"load_average"` // before the first night
	Flaky    int     `json:"flaky"`
	Dead     int     `json:"dead"`
	Floods   int     `json:"floods"`
	// Lost are hosts of which the ledger knows nothing, or not what they are.
	Lost int `json:"lost"`
	// FlakyUnreachable are flaky hosts that were called unreachable, in either night.
	FlakyUnreachable int     `json:"flaky_unreachable"`
	Seconds          float64 `json:"seconds"`
	PeakMB           float64 `json:"peak_mb"`
	CPUSeconds       float64 `json:"cpu_seconds"`
	Changes          int     `json:"changes"`
	Alerts           int     `json:"alerts"`
	Second           struct {
		Seconds    float64 `json:"seconds"`
		PeakMB     float64 `json:"peak_mb"`
		CPUSeconds float64 `json:"cpu_seconds"`
		Changed    int     `json:"changed_hosts"` // on which somebody set something
		Changes    int     `json:"changes"`
		Alerts     int     `json:"alerts"`
		// Unexpected are changes of hosts on which nobody set anything.
		Unexpected int     `json:"unexpected_changes"`
		Load       string  `json:"load_average"`
		Ratio      float64 `json:"of_first"`     // its seconds over the first's
		CPURatio   float64 `json:"cpu_of_first"` // its CPU seconds over the first's
	} `json:"second"`
}

func (r *fleetResult) print(w io.Writer) error {
	page := show.NewPage(cli.StyleOf(w))
	page.Paragraph("", "", fmt.Sprintf("%s hosts (%d flaky, %d dead, %d floods), %d connections, %.0f ms a capture, %d CPUs, load average %s.", show.Count(r.Hosts), r.Flaky, r.Dead, r.Floods, r.Parallel, r.DelayMS, r.CPUs, r.Load))
	page.Table(show.Table{Header: []string{"NIGHT", "SECONDS", "CPU SECONDS", "PEAK MB", "CHANGES", "ALERTS"}, Right: show.NumbersAfter(1), Rows: [][]string{
		{"first", fmt.Sprintf("%.1f", r.Seconds), fmt.Sprintf("%.1f", r.CPUSeconds), fmt.Sprintf("%.0f", r.PeakMB), show.Count(r.Changes), show.Count(r.Alerts)},
		{"second", fmt.Sprintf("%.1f", r.Second.Seconds), fmt.Sprintf("%.1f", r.Second.CPUSeconds), fmt.Sprintf("%.0f", r.Second.PeakMB), show.Count(r.Second.Changes), show.Count(r.Second.Alerts)},
	}})
	page.Line(fmt.Sprintf("lost %d, flaky called unreachable %d, changes of unchanged hosts %d", r.Lost, r.FlakyUnreachable, r.Second.Unexpected))
	return page.Flush(w)
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(text), " ")
	return one
}

func benchFleet(cmd *cobra.Command, o *fleetBench) (*fleetResult, error) {
	dir, err := os.MkdirTemp("", "linerate-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	h := &fleetHosts{n: o.hosts, seed: o.seed, delay: o.delay, flaky: o.flaky, dead: o.dead, floods: o.floods}
	if err := o.prepare(cmd.Context(), h, dir); err != nil {
		return nil, err
	}
	defer h.listener.Close()
	r := &fleetResult{Version: 1, Hosts: o.hosts, Parallel: o.parallel, DelayMS: float64(o.delay) / 1e6, CPUs: runtime.NumCPU(), Load: loadAverage()}
	for i := range o.hosts {
		switch h.nature(i) {
		case flakyHost:
			r.Flaky++
		case deadHost:
			r.Dead++
		case floodHost:
			r.Floods++
		}
	}
	changed := func(i int) bool { return h.nature(i) <= flakyHost && h.random(i, 5).IntN(100) == 0 }
	fmt.Fprintln(cmd.ErrOrStderr(), "first night")
	if err := h.night(1, func(int) bool { return false }); err != nil {
		return nil, err
	}
	first, err := o.sweep(cmd, dir)
	if err != nil {
		return nil, err
	}
	r.Seconds, r.PeakMB, r.CPUSeconds, r.Changes, r.Alerts = first.seconds, first.peak, first.cpu, first.w.Changes, first.w.Alerts
	if err := o.count(cmd.Context(), h, dir, r); err != nil {
		return nil, err
	}
	fmt.Fprintln(cmd.ErrOrStderr(), "second night")
	if err := h.night(2, changed); err != nil {
		return nil, err
	}
	s := &r.Second
	s.Load = loadAverage()
	second, err := o.sweep(cmd, dir)
	if err != nil {
		return nil, err
	}
	s.Seconds, s.PeakMB, s.CPUSeconds, s.Changes, s.Alerts, s.Ratio = second.seconds, second.peak, second.cpu, second.w.Changes, second.w.Alerts, second.seconds/first.seconds
	s.CPURatio = second.cpu / first.cpu
	touched := map[string]bool{}
	for i := range o.hosts {
		if changed(i) {
			s.Changed++
			touched[h.address(i)] = true
		}
	}
	for _, c := range second.changes {
		if !touched[c.Name] {
			s.Unexpected++
		}
	}
	return r, o.count(cmd.Context(), h, dir, r)
}

// prepare makes what a client needs, and the hosts.
func (o *fleetBench) prepare(ctx context.Context, h *fleetHosts, dir string) error {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "bench")
	if err != nil {
		return err
	}
	if h.user, err = ssh.NewPublicKey(public); err != nil {
		return err
	}
	var bundle bytes.Buffer
	if err := capture.Run(ctx, "-", &bundle, io.Discard); err != nil {
		return err
	}
	if err := newFleetHosts(h, bundle.Bytes()); err != nil {
		return err
	}
	var known, list strings.Builder
	for i := range o.hosts {
		signer, err := ssh.NewSignerFromKey(h.key(i))
		if err != nil {
			return err
		}
		address := h.address(i)
		name, port, _ := strings.Cut(address, ":")
		fmt.Fprintf(&known, "[%s]:%s %s", name, port, ssh.MarshalAuthorizedKey(signer.PublicKey()))
		fmt.Fprintf(&list, "ssh://%s role=%s\n", address, []string{"web", "router", "firewall", "storage"}[i%4])
	}
	config := fmt.Sprintf("Host *\n\tUser bench\n\tIdentityFile %s/id\n\tIdentityAgent none\n\tUserKnownHostsFile %s/known_hosts\n\tGlobalKnownHostsFile none\n", dir, dir)
	for name, text := range map[string]string{"id": string(pem.EncodeToMemory(block)), "known_hosts": known.String(), "hosts": list.String(), "config": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// swept is one night.
type swept struct {
	seconds, peak, cpu float64
	w                  fleet.Sweep
	changes            []fleet.Change
}

// sweep sweeps in a process of its own.
func (o *fleetBench) sweep(cmd *cobra.Command, dir string) (s swept, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	c := exec.CommandContext(cmd.Context(), self, "client", "fleet", dir, "--parallel", fmt.Sprint(o.parallel))
	c.Stderr = cmd.ErrOrStderr()
	c.Env = append(os.Environ(), "SSH_AUTH_SOCK=")
	begun := time.Now()
	out, err := c.Output()
	if err != nil {
		return s, fmt.Errorf("sweep: %w", err)
	}
	s.seconds = time.Since(begun).Seconds()
	s.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	var doc fleetNight
	if err := json.Unmarshal(out, &doc); err != nil {
		return s, err
	}
	s.w, s.changes, s.peak = doc.Sweep, doc.Changes, doc.PeakMB
	return s, nil
}

// count adds what is lost, and flaky hosts that were called unreachable.
func (o *fleetBench) count(ctx context.Context, h *fleetHosts, dir string, r *fleetResult) error {
	return ledgers.Read(ctx, filepath.Join(dir, "ledger.db"), func(s ledger.Store) error {
		all, err := s.Fleet().Hosts(ctx, fleet.HostFilter{})
		if err != nil {
			return err
		}
		known := map[string]*fleet.Host{}
		for i := range all {
			known[all[i].Name] = &all[i]
		}
		r.Lost = 0
		for i := range h.n {
			host, nature := known[h.address(i)], h.nature(i)
			switch {
			case host == nil, nature <= flakyHost && host.ID != h.machine(i) && host.UnreachableSince.IsZero(), nature > flakyHost && host.UnreachableSince.IsZero():
				r.Lost++
			case nature == flakyHost && !host.UnreachableSince.IsZero():
				r.FlakyUnreachable++
			case nature == sound && !host.UnreachableSince.IsZero():
				r.Lost++
				fmt.Fprintf(os.Stderr, "a sound host is called unreachable: %s: %s\n", host.Name, host.Reason)
			}
		}
		return nil
	})
}

// fleetNight is what the process of a sweep prints.
type fleetNight struct {
	PeakMB  float64        `json:"peak_mb"`
	Sweep   fleet.Sweep    `json:"sweep"`
	Changes []fleet.Change `json:"changes"`
}

// peakMB is the most memory that this process had. What wait4(2) tells of a child
// counts its parent's too, whose memory it shares until it executes.
func peakMB() (float64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0, fmt.Errorf("VmHWM: %w", err)
	}
	return kilobytes / 1024, nil
}

// newFleetClientCmd is one night: linerate fleet sweep without its flags.
func newFleetClientCmd() *cobra.Command {
	o := hosts.Pace{}
	cmd := &cobra.Command{
		Use: "fleet DIR", Short: "sweep the hosts of a bench", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			targets, err := hosts.List(filepath.Join(dir, "hosts"), fleet.ParseLines)
			if err != nil {
				return err
			}
			var doc fleetNight
			err = ledgers.With(cmd.Context(), filepath.Join(dir, "ledger.db"), func(s ledger.Store) error {
				job := hosts.Sweep{Pace: o, ID: time.Now().UTC().Format(time.RFC3339Nano), From: "bench", Targets: targets, Version: cli.Version(), Store: s.Fleet(),
					Remote:  hosts.Remote{Config: filepath.Join(dir, "config"), Timeout: 2 * time.Minute, Talk: func() io.Writer { return io.Discard }},
					Changed: func(c []fleet.Change) { doc.Changes = append(doc.Changes, c...) }}
				var err error
				doc.Sweep, err = job.Run(cmd.Context())
				return err
			})
			if err != nil {
				return err
			}
			doc.PeakMB, err = peakMB()
			return errors.Join(err, cli.PrintJSON(cmd.OutOrStdout(), doc))
		},
	}
	cmd.Flags().IntVar(&o.Parallel, "parallel", 200, "connections at a time")
	return cmd
}
