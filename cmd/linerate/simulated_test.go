package main

import (
	"context"
	"os"
	"strconv"
	"syscall"
	"time"

	"linerate/internal/assemble"
	"linerate/internal/fact"
	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/lab/serve"
	"linerate/internal/setting"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
)

// Scripts that set SIMULATED run their studies on a simulated testbed, so that schedules,
// resumption and refusals can be tested quickly and on any machine:
//
//	SIMULATED=1          on
//	SIM_KILL_AFTER=n     the process kills itself (SIGKILL) in its n-th reset
//	SIM_INTERRUPT_AFTER  the process interrupts itself (SIGINT) there
//	SIM_NO_OVERLOAD=1    mode overload is unavailable
//	SIM_FAULTY=n         the trial after the n-th reset drifts
//	SIM_NO_SET=1         the testbed does not support configuration sets
func simulate() {
	if os.Getenv("SIMULATED") == "" {
		return
	}
	openLab = func(_ context.Context, o assemble.Options) (*assemble.Testbed, error) {
		sim := &selfDestruct{Simulated: &bedtest.Simulated{Noise: 0.008, Seed: 7}}
		sim.Faults = func(n int) bedtest.Fault {
			if at := number("SIM_FAULTY"); at > 0 && n == at-1 {
				return bedtest.Fault{Drift: 0.5}
			}
			return bedtest.Fault{}
		}
		sim.Refuse = func(s setting.Setting) string {
			if os.Getenv("SIM_NO_SET") != "" && s.Rules != nil && s.Rules.SetElements > 0 {
				return "this kernel has no sets"
			}
			return ""
		}
		up := func(_ context.Context, mode testbed.Mode) (testbed.Bed, error) {
			if mode == testbed.Overload && os.Getenv("SIM_NO_OVERLOAD") != "" {
				return nil, &testbed.ErrUnavailable{Setting: "mode overload", Reason: "one CPU"}
			}
			sim.Mode = mode
			return sim, nil
		}
		facts := &fact.Facts{Version: fact.Version, OS: fact.Linux, Kernel: "6.18 #1", Hostname: "nowhere", Machine: "a simulation",
			CPU: fact.CPU{Model: "simulated", Count: 2}}
		l := &lab.Lab{Machine: sim.Simulated, AllowHost: o.AllowHost, Profiler: sim.Profile, Runners: assemble.Runners(&forward.Runner{Bed: up, Engine: sim.Simulated}, serve.Runner{})}
		return &assemble.Testbed{Lab: l, Engine: sim.Simulated.Name(), Facts: facts, Label: "veth, not a NIC"}, nil
	}
}

// selfDestruct is a testbed that ends its own process in the middle of a trial.
type selfDestruct struct {
	*bedtest.Simulated
	n int
}

func (s *selfDestruct) Reset(ctx context.Context, settings []setting.Setting) (testbed.Applied, error) {
	s.n++
	if s.n == number("SIM_KILL_AFTER") {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if s.n == number("SIM_INTERRUPT_AFTER") {
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
		}
	}
	return s.Simulated.Reset(ctx, settings)
}

func number(name string) int {
	n, _ := strconv.Atoi(os.Getenv(name))
	return n
}
