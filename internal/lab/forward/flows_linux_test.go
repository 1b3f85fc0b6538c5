package forward_test

import (
	"context"
	"strings"
	"testing"

	"linerate/internal/lab"
	"linerate/internal/lab/forward"
	"linerate/internal/labtest"
	"linerate/internal/load/xdpload"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/bedtest"
	"linerate/internal/testbed/netnsbed"
)

// byCoin returns a study in which randomly drawn flows have another rule than the rest.
func byCoin(t *testing.T, order, rule, parts string) (study.Spec, []study.Trial) {
	t.Helper()
	labtest.Namespaces(t)
	s := bedtest.Parse(t, `
name: x
question: "?"
workload: {flows: 200, order: `+order+`}
control: left
retries: 0
variants:
  - {name: left}
  - name: drawn
    settings:
      - nft: |
          table ip arms {
            chain slow {
`+strings.Repeat("              ip daddr 203.0.113.1 counter\n", 400)+`
            }
            chain forward {
              type filter hook forward priority filter; policy accept;
              `+rule+`
            }
          }
parts: [{name: flows, mode: flows, `+parts+`}]
metrics: [{metric: flow_latency_p50_ns, part: flows, primary: true, margin_percent: 5}]
`)
	up := func(ctx context.Context, mode testbed.Mode) (testbed.Bed, error) {
		return netnsbed.Up(ctx, netnsbed.Options{Mode: mode})
	}
	l := &lab.Lab{Machine: lab.Local{}, Runners: []lab.Runner{forward.Flows{Runner: &forward.Runner{Bed: up, Engine: xdpload.New()}}}}
	trials, _, _, err := bedtest.Run(t, l, lab.Task{Spec: s, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return s, trials
}

// TestTheCoinIsTheKernels: of the flows that nft draws and drops none arrives, and all others do: the kernel's
// draw is the one by which the arms are told apart.
func TestTheCoinIsTheKernels(t *testing.T) {
	_, trials := byCoin(t, "round-robin", "$coin drop", "blocks: 4, seconds: 0.05, warmup: 0")
	for _, trial := range trials {
		c := trial.Observed.Connections
		if c == nil || c.Opened == 0 {
			t.Fatalf("block %d: no flows of %s: %v", trial.Block, trial.Variant, trial.Reasons)
		}
		if drawn := trial.Variant == "drawn"; drawn && len(c.Client) > 0 || !drawn && c.Lost > 0 {
			t.Errorf("block %d, share %g: %d of %d flows of %s arrived", trial.Block, c.Share, len(c.Client), c.Opened, trial.Variant)
		}
	}
}

// TestFlowsTellTheirRule: if flows send trains, those that pass 400 more rules take longer, and the two halves
// of the others do not differ. If frames of all flows are mixed, each waits for all others: flows do not
// differ, and only the drawn share shows the effect.
func TestFlowsTellTheirRule(t *testing.T) {
	for _, order := range []string{"trains", "random"} {
		s, trials := byCoin(t, order, "$coin jump slow", "blocks: 12, seconds: 0.1, warmup: 0.05")
		v := study.Analyse(s, 7, study.Environment{}, trials).Verdicts[0]
		if v.Host == nil {
			t.Fatalf("%s: no effect on the router: %+v", order, v)
		}
		between, router := v.Host.Between.EffectPercent.Float(), v.Host.EffectPercent.Float()
		t.Logf("%s: between flows %+.1f %%, on the router %+.1f %%, %s", order, between, router, v.Verdict)
		switch order {
		case "trains":
			if between < 50 || between < 0.7*router || v.Verdict != "worse" {
				t.Errorf("trains that pass 400 rules more take %+.1f %% longer, %+.1f %% on the router: %s", between, router, v.Verdict)
			}
		default:
			if between > router/4 || router < 50 {
				t.Errorf("mixed frames: %+.1f %% between flows, %+.1f %% on the router", between, router)
			}
		}
	}
}
