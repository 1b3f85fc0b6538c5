package studydir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/internal/load"
	"linerate/internal/study"
)

// sliced makes a study of one instance whose trials were derived from slices,
// and returns its directory and the file of slices.
func sliced(t *testing.T) (dir, file string) {
	t.Helper()
	s := spec(t)
	in := study.Instance{Part: "cost", Block: 1, Attempt: 1, Arms: []string{"a", "b", study.AA, study.BypassLane}, Control: "a"}
	for round := range 60 {
		for lane, ns := range []uint32{700, 770, 701, 200} {
			in.Slices = append(in.Slices, load.Slice{Lane: lane, Frames: 512, NS: 512*ns + uint32(round*lane%7), At: uint32(4000*round + 1000*lane)})
		}
	}
	data, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	dir = filepath.Join(t.TempDir(), "study")
	d, err := Create(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Keep(in.RawName(), data); err != nil {
		t.Fatal(err)
	}
	for lane, lanes := range in.Condense()[:3] {
		o := study.Observation{Interleaved: &study.Interleaved{How: study.BySlices, Attempt: 1, Lane: lane, Raw: in.RawName(), SHA256: hex.EncodeToString(sum[:]), Lanes: lanes}}
		metrics, _ := study.Judge(s.Parts[0], study.Gates{}, o)
		if len(metrics) == 0 {
			t.Fatalf("lane %d gives no metrics: %+v", lane, lanes)
		}
		if err := d.Append(study.Trial{Part: "cost", Variant: in.Arms[lane], Block: 1, Order: lane + 1, Start: time.Unix(1, 0).UTC(), Valid: true,
			Reasons: []study.Refusal{}, Metrics: metrics, Mode: "cost", Observed: &o}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, in.RawName())
}

// TestVerifyFindsAFlippedByte: wherever a bit of the raw slices changes, the
// study is not verified; nor is it when the record changes.
func TestVerifyFindsAFlippedByte(t *testing.T) {
	dir, file := sliced(t)
	v, err := Verify(dir)
	if err != nil || !v.OK || v.Files != 1 || v.Trials != 3 || v.Without != 0 {
		t.Fatalf("as it was measured: %+v, %v", v, err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += max(1, len(whole)/50) {
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		put(t, file, changed)
		if v, err := Verify(dir); err != nil || v.OK || v.Files != 0 || v.Trials != 0 || !strings.Contains(v.Problems[0], "its bytes were changed since") {
			t.Fatalf("byte %d flipped: %+v, %v", at, v, err)
		}
	}
	put(t, file, whole)
	if v, err := Verify(dir); err != nil || !v.OK {
		t.Errorf("put back: %+v, %v", v, err)
	}
}

func TestVerifyHoldsTheRecordAgainstItsSlices(t *testing.T) {
	for name, c := range map[string]struct{ old, new, says string }{
		"a metric":           {`"chain_ns_per_packet":7`, `"chain_ns_per_packet":8`, "the record has"},
		"a lane's ratio":     {`"log_ratio":0.0`, `"log_ratio":0.1`, "log_ratio"},
		"the wrong block":    {`"block":1,"order":2`, `"block":2,"order":2`, "they are of part cost, block 1"},
		"the wrong arm":      {`"lane":1`, `"lane":0`, "lane 0 is not b"},
		"no such lane":       {`"lane":1`, `"lane":9`, "lane 9 is not b"},
		"the wrong instance": {`"attempt":1,"lane":1`, `"attempt":2,"lane":1`, "instance 1"},
		"another's file":     {`"raw":"slices-`, `"raw":"../slices-`, "those are slices-PART-BLOCK-INSTANCE.csv.gz"},
		"no such file":       {`"raw":"slices-cost-1-1`, `"raw":"slices-cost-1-7`, "slices-cost-1-7.csv.gz: "},
	} {
		dir, _ := sliced(t)
		file := filepath.Join(dir, TrialsFile)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		changed := strings.Replace(lines[1], c.old, c.new, 1)
		if changed == lines[1] {
			t.Fatalf("%s: %q is not in %s", name, c.old, lines[1])
		}
		lines[1] = changed
		put(t, file, []byte(strings.Join(lines, "")))
		if v, err := Verify(dir); err != nil || v.OK || v.Trials != 2 || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], c.says) {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
	path, _ := made(t)
	if v, err := Verify(path); err != nil || !v.OK || v.Without != 3 || v.Files != 0 {
		t.Errorf("a study without slices: %+v, %v", v, err)
	}
	if _, err := Verify(t.TempDir()); err == nil {
		t.Error("a directory without a study is verified")
	}
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
