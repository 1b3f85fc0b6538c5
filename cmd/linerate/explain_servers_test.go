package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/cli"
	"linerate/internal/study"
	"linerate/internal/study/record"
	"linerate/internal/testbed"
)

const serversRecord = `name: servers
question: q
seed: 3
workload: {files: {}}
variants:
  - {name: a}
  - {name: noatime, settings: [{filesystem: {type: ext4, options: noatime}}]}
  - {name: several, settings: [{filesystem: {type: xfs}}, {sysctl: vm.swappiness, value: '10', scope: host}]}
parts: [{name: p, blocks: 6}]
metrics: [{metric: requests_per_second, part: p, primary: true}]
`

// writeServers writes the record of a study in which noatime doubles the request rate.
func writeServers(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var lines bytes.Buffer
	for block := 1; block <= 6; block++ {
		for i, v := range []string{"a", "noatime", "several", study.AA} {
			rate := 100 * (1 + 0.01*math.Sin(float64(7*block+3*i)))
			if v == "noatime" {
				rate *= 2
			}
			tr := study.Trial{Part: "p", Variant: v, Block: block, Order: i + 1, Start: time.Unix(int64(10*block+i), 0).UTC(), Valid: true, Reasons: []study.Refusal{},
				Metrics: map[string]float64{study.RequestRate: rate}, Mode: testbed.Serve}
			if err := json.NewEncoder(&lines).Encode(tr); err != nil {
				t.Fatal(err)
			}
		}
	}
	results, err := json.Marshal(study.Results{Version: study.ResultsVersion, Environment: study.Environment{OS: "linux", Kernel: "Linux 6.12.1", CPU: "some CPU", CPUs: 4}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{record.SpecFile: []byte(serversRecord), record.TrialsFile: lines.Bytes(), record.ResultsFile: results} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestExplainOfWhatServersAreSet: explain shows evidence on measured settings that are not in
// the catalogue, under any of their names, and on settings that were changed together with a tunable.
func TestExplainOfWhatServersAreSet(t *testing.T) {
	place := filepath.Join(t.TempDir(), "ledger.db")
	said := func(want int, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(append(args, "--ledger", place), strings.NewReader(""), &out, &errs); code != want {
			t.Fatalf("%v: exit %d\n%s%s", args, code, out.String(), errs.String())
		}
		return out.String() + errs.String()
	}
	said(cli.ExitOK, "import", writeServers(t))
	for args, want := range map[string]string{
		"mount:noatime --os linux": "the catalogue has no page", "noatime": "the catalogue has no page", "filesystem": "default → xfs (and 1 more)",
		"vm.swappiness": "default → 10", "mount:noatime": "default → on  +9",
	} {
		if text := said(cli.ExitOK, append([]string{"explain"}, strings.Fields(args)...)...); !strings.Contains(text, want) {
			t.Errorf("explain %s: no %q in\n%s", args, want, text)
		}
	}
	var doc struct {
		Tunable  *string
		Evidence []struct {
			Alone bool
			After string
		}
	}
	if err := json.Unmarshal([]byte(said(cli.ExitOK, "explain", "mount:noatime", "--os", "linux", "--json")), &doc); err != nil || doc.Tunable != nil || len(doc.Evidence) != 1 || !doc.Evidence[0].Alone || doc.Evidence[0].After != "on" {
		t.Errorf("%+v, %v", doc, err)
	}
	if text := said(cli.ExitUsage, "explain", "postfix:in_flow_delay"); !strings.Contains(text, "unknown tunable") {
		t.Error(text)
	}
}
