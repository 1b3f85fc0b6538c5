package assemble

import (
	"context"
	"os"

	"linerate/internal/assemble/hosts"
	"linerate/internal/assemble/testbeds"
	"linerate/internal/hint"
	"linerate/internal/instrument"
	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/serve"
	"linerate/internal/responsive"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// Local opens this machine's lab, with the namespace testbed and a traffic engine.
func Local(ctx context.Context, o Options) (*Testbed, error) {
	engine, err := testbeds.EngineNamed(o.Engine, os.Stderr)
	if err != nil {
		return nil, err
	}
	facts, err := (&hosts.Source{}).Facts(ctx, nil)
	if err != nil {
		return nil, err
	}
	up := func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error) {
		return netnsbed.Up(ctx, netnsbed.Options{Mode: mode, AllowHostSettings: o.AllowHost})
	}
	sites := func(ctx context.Context) (testbed.Sites, error) { return netnsbed.UpSites(ctx, o.AllowHost) }
	packets := &forward.Runner{Bed: up, Engine: engine, Manager: responsive.Local{}}
	l := &lab.Lab{Machine: lab.Local{}, AllowHost: o.AllowHost, Profiler: instrument.Profile, Runners: Runners(packets, serve.Runner{Sites: sites, Service: testbeds.LocalServers{}})}
	return &Testbed{Lab: l, Engine: engine.Name(), Facts: facts, Label: netnsbed.Label}, nil
}

// Inside runs f where network namespaces can be created: here, or, without the privilege, in this
// program restarted as root of a user namespace, whose exit code is the error (hint.Exit).
func Inside(ctx context.Context, f func() error) error {
	if !netnsbed.NeedsUserNamespace() {
		return f()
	}
	code, err := netnsbed.Enter(ctx)
	if err == nil && code != 0 {
		return hint.Exit(code)
	}
	return err
}

// Bed names what a demo's packets pass through.
const Bed = "network namespaces"

// Carries returns an error if this machine's lab cannot run a part; here it never does.
func Carries(study.Spec) error { return nil }

// system is the operating system of the lab's DUTs.
const system = "linux"

// lacks returns why the lab cannot have a setting; this kernel's support is known only after a try.
func lacks(study.Setting) string { return "" }
