package record

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"linerate/internal/profile"
)

func aProfile(t *testing.T) (data, sum string) {
	t.Helper()
	b := profile.NewBuilder("cpu-clock", "nanoseconds")
	b.Add([]profile.Frame{{Name: "net_rx_action"}, {Name: "ip_forward"}}, 7000)
	var out bytes.Buffer
	if err := b.Profile().Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String(), fmt.Sprintf("%x", sha256.Sum256(out.Bytes()))
}

func telemetryLine(file, sum string) string {
	return fmt.Sprintf(`{"part":"cost","variant":"a","profile":{"pprof":%q,"sha256":%q,"event":"cpu-clock"},"reasons":{"NETFILTER_DROP":3}}`+"\n", file, sum)
}

func TestTelemetry(t *testing.T) {
	data, sum := aProfile(t)
	file := "profile-cost-a.pb.gz"
	whole := map[string]string{TelemetryFile: telemetryLine(file, sum) + `{"part":"co`, file: data}
	r, err := Read(files(whole), "dir")
	if err != nil {
		t.Fatal(err)
	}
	res := r.Results()
	if len(res.Telemetry) != 1 || res.Telemetry[0].Stacks == nil || profile.Total(res.Telemetry[0].Stacks) != 7000 {
		t.Errorf("%+v", res.Telemetry)
	}
	if len(r.Files) != 5 || len(r.Warnings(res)) != 0 {
		t.Errorf("%d files, warnings %q", len(r.Files), r.Warnings(res))
	}
	for name, c := range map[string]struct{ data, warns string }{
		"missing": {"-", "does not exist"}, "edited": {data + " ", "edited since"},
	} {
		r, err := Read(files(map[string]string{TelemetryFile: telemetryLine(file, sum), file: c.data}), "dir")
		if err != nil || r.Telemetry[0].Stacks != nil || !strings.Contains(fmt.Sprint(r.Warnings(r.Results())), c.warns) {
			t.Errorf("%s: %v, %q", name, err, r.Warnings(r.Results()))
		}
	}
	for _, bad := range []string{telemetryLine("../secret", sum), telemetryLine("profile-/etc/passwd.pb.gz", sum), "{}\n" + telemetryLine(file, sum)} {
		if _, err := Read(files(map[string]string{TelemetryFile: bad}), "dir"); err == nil {
			t.Errorf("accepted: %s", bad)
		}
	}
}

func FuzzParseTelemetry(f *testing.F) {
	f.Add([]byte(telemetryLine("profile-a-b.pb.gz", "00")))
	f.Add([]byte(`{"part":"p","variant":"a"}` + "\n" + `{"var`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, whole, err := ParseTelemetry("t", data)
		if err != nil {
			return
		}
		again, same, err := ParseTelemetry("t", data[:whole])
		if err != nil || len(again) != len(all) || same != whole {
			t.Errorf("parsing the undamaged part again gives %d lines, then %d, %v", len(all), len(again), err)
		}
	})
}
