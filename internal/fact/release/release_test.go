package release

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in                  string
		major, minor, patch int
		branch              string
	}{
		{"14.3", 14, 3, 0, ""},
		{"14", 14, 0, 0, ""},
		{"14.3-RELEASE-p2", 14, 3, 2, "RELEASE"},
		{"14.0-STABLE\n", 14, 0, 0, "STABLE"},
		{"16.0-CURRENT", 16, 0, 0, "CURRENT"},
		{"6.8.0-45-generic", 6, 8, 0, "45-generic"},
		{"6.1.0-rc3+", 6, 1, 0, "rc3+"},
		{"5.15.0+", 5, 15, 0, ""},
		{"6.12.43+deb13-amd64", 6, 12, 43, "deb13-amd64"},
		{"5.15.90.1-microsoft-standard-WSL2", 5, 15, 90, "microsoft-standard-WSL2"},
		{"5.14.0-503.11.1.el9_5.x86_64", 5, 14, 0, "503.11.1.el9_5.x86_64"},
		{"13.2-RELEASE-patched", 13, 2, 0, "RELEASE-patched"},
	} {
		r, err := Parse(c.in)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.in, err)
			continue
		}
		if r.Major != c.major || r.Minor != c.minor || r.Patch != c.patch || r.Branch != c.branch {
			t.Errorf("Parse(%q) = %+v", c.in, r)
		}
	}
	for _, bad := range []string{"", "FreeBSD", "-1.2", "14.x", "1.2.3.4", "99999999999999999999.1", "0.0"} {
		if r, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", bad, r)
		}
	}
}

func TestCompare(t *testing.T) {
	order := []string{"11.4", "12.0", "12.4-RELEASE", "13.5", "14.0-STABLE", "14.3-RELEASE-p2", "15.0", "16.0-CURRENT"}
	for i := range order {
		for j := range order {
			got := MustParse(order[i]).Before(MustParse(order[j]))
			if got != (i < j) {
				t.Errorf("%s before %s = %v", order[i], order[j], got)
			}
		}
	}
	if MustParse("14.3-RELEASE").Compare(MustParse("14.3-RELEASE-p9")) != 0 {
		t.Error("patch levels must compare equal")
	}
	if !MustParse("14.3").AtLeast(14, 3) || MustParse("14.2").AtLeast(14, 3) {
		t.Error("AtLeast is wrong at its edge")
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(MustParse("14.3-RELEASE-p2"))
	if err != nil || string(b) != `"14.3-RELEASE-p2"` {
		t.Fatalf("%s, %v", b, err)
	}
	var r Release
	if err := json.Unmarshal(b, &r); err != nil || r != MustParse("14.3-RELEASE-p2") {
		t.Errorf("%+v, %v", r, err)
	}
	if err := json.Unmarshal([]byte(`""`), &r); err != nil || !r.IsZero() {
		t.Errorf("unknown release: %+v, %v", r, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"14.3-RELEASE-p2", "6.8.0-45-generic", "..", "-p", "1-p-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if err == nil && (r.Major <= 0 || r.Minor < 0 || r.Patch < 0) {
			t.Errorf("Parse(%q) = %+v", s, r)
		}
	})
}

// TestParseGiven: a release given by a user must exist or be a plausible future one.
func TestParseGiven(t *testing.T) {
	for _, good := range []string{"14.3", "14.3-RELEASE-p2", "6.19", "6.18.5-arch1", "7.4", "13.5", "15.1-STABLE", "2.6.39", "4.20"} {
		if r, err := ParseGiven(good); err != nil || r != MustParse(good) {
			t.Errorf("%s: %+v, %v", good, r, err)
		}
	}
	for bad, says := range map[string]string{"6.999": "6.19", "5.20": "5.19", "13.6": "13.5", "12.9-RELEASE": "12.4", "": "want numbers", "x": "want numbers"} {
		if _, err := ParseGiven(bad); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := Parse("6.999"); err != nil {
		t.Errorf("a release reported by a kernel is refused: %v", err)
	}
}

// TestOddReleases: suffixes that vendors append to numbers, and numbers at the limits.
func TestOddReleases(t *testing.T) {
	for in, want := range map[string]Release{
		"6.12+": {Major: 6, Minor: 12}, "6.12.43+x": {Major: 6, Minor: 12, Patch: 43, Branch: "x"}, "100000.100000": {Major: 100_000, Minor: 100_000}, "14.1-RELEASE-p100000": {Major: 14, Minor: 1, Patch: 100_000, Branch: "RELEASE"},
		"14.1-RELEASE-p100001": {Major: 14, Minor: 1, Branch: "RELEASE-p100001"}, "14.1-RELEASE-p0": {Major: 14, Minor: 1, Branch: "RELEASE"}, "14.1-RELEASE-p-1": {Major: 14, Minor: 1, Branch: "RELEASE-p-1"},
	} {
		got, err := Parse(in)
		if got.text = ""; err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", in, got, err, want)
		}
	}
	for _, bad := range []string{"100001.1", "6.100001", "6..1", "6.12.", "+6", "six"} {
		if r, err := Parse(bad); err == nil {
			t.Errorf("%s is %+v", bad, r)
		}
	}
	for r, want := range map[Release]string{{}: "", {Major: 14, Minor: 3}: "14.3", {Major: 14, Minor: 3, Branch: "STABLE"}: "14.3-STABLE", {Major: 6, Minor: 8, text: "6.8.0-45-generic"}: "6.8.0-45-generic"} {
		if got := r.String(); got != want {
			t.Errorf("%+v is %q, want %q", r, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("MustParse accepts an invalid release")
		}
	}()
	MustParse("x")
}

// TestTextRoundTrips: a release that is written is read back the same, in JSON and as text.
func TestTextRoundTrips(t *testing.T) {
	for _, s := range []string{"14.3-RELEASE-p2", "6.8.0-45-generic", "14", "5.15.90.1-microsoft-standard-WSL2"} {
		b, err := MustParse(s).MarshalText()
		var back Release
		if err != nil || string(b) != s || back.UnmarshalText(b) != nil || back != MustParse(s) {
			t.Errorf("%s: %q, %+v, %v", s, b, back, err)
		}
	}
	r := MustParse("14.3")
	if err := r.UnmarshalText([]byte("x")); err == nil || r != MustParse("14.3") {
		t.Errorf("unreadable text changes the release: %+v, %v", r, err)
	}
	if err := json.Unmarshal([]byte("5"), &r); err == nil || r != MustParse("14.3") {
		t.Errorf("a JSON number is accepted as a release: %v", err)
	}
	if err := json.Unmarshal([]byte(`""`), &r); err != nil || !r.IsZero() {
		t.Errorf("an empty release: %+v, %v", r, err)
	}
}
