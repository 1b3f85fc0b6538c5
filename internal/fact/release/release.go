// Package release compares releases of operating systems: FreeBSD's
// "14.3-RELEASE-p2" and Linux's "6.8.0-45-generic".
package release

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Release is one release of an operating system. The zero value is an unknown release.
type Release struct {
	Major, Minor, Patch int
	// Branch is what follows the numbers: "RELEASE", "STABLE", "CURRENT", "45-generic" … It is
	// empty if a person gave only numbers.
	Branch string
	text   string
}

// maxPart limits each number: no system comes near it, and untrusted input must not overflow the
// arithmetic.
const maxPart = 100_000

// Parse parses the output of `uname -r`, or numbers alone: "14.3", "14.3-RELEASE-p2",
// "15.0-CURRENT", "6.8.0-45-generic", "14" (meaning 14.0). For FreeBSD's "-pN" the patch is N; for
// Linux it is the third number.
func Parse(s string) (Release, error) {
	s = strings.TrimSpace(s)
	numbers, branch, _ := strings.Cut(s, "-")
	if n, more, vendor := strings.Cut(numbers, "+"); vendor && more != "" { // Debian 13: 6.12.43+deb13-amd64
		numbers, branch = n, s[len(n)+1:]
	}
	r := Release{Branch: branch, text: s}
	parts := strings.Split(numbers, ".")
	if len(parts) == 4 && r.Branch != "" { // 5.15.90.1-microsoft-standard-WSL2
		parts = parts[:3]
	}
	if len(parts) > 3 {
		return Release{}, fmt.Errorf("release %q: more than three numbers", s)
	}
	for i, into := range []*int{&r.Major, &r.Minor, &r.Patch}[:len(parts)] {
		n, err := strconv.Atoi(strings.TrimRight(parts[i], "+")) // some vendors append + to the last number: 5.15.0+
		if err != nil || n < 0 || n > maxPart {
			return Release{}, fmt.Errorf("release %q: want numbers such as 14.3", s)
		}
		*into = n
	}
	if r.Major == 0 {
		return Release{}, fmt.Errorf("release %q: want numbers such as 14.3", s)
	}
	if before, p, ok := strings.Cut(branch, "-p"); ok {
		if n, err := strconv.Atoi(p); err == nil && n >= 0 && n <= maxPart {
			r.Branch, r.Patch = before, n
		}
	}
	return r, nil
}

// lastMinor is the last minor release of completed series, by major: FreeBSD's 11 to 13
// (www.freebsd.org/security/unsupported), and Linux's 3 to 6.
var lastMinor = map[int]int{3: 19, 4: 20, 5: 19, 6: 19, 11: 4, 12: 4, 13: 5}

// ParseGiven is Parse for user input: it rejects a release that does not exist in a completed
// series.
func ParseGiven(s string) (Release, error) {
	r, err := Parse(s)
	if last, complete := lastMinor[r.Major]; err == nil && complete && r.Minor > last {
		return Release{}, fmt.Errorf("release %q does not exist: the last of its series is %d.%d", s, r.Major, last)
	}
	return r, err
}

// MustParse is Parse for constants; it panics on an error.
func MustParse(s string) Release {
	r, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return r
}

// IsZero reports whether the release is unknown.
func (r Release) IsZero() bool { return r.Major == 0 }

// String returns the release as it was given, or its numbers.
func (r Release) String() string {
	if r.text != "" || r.IsZero() {
		return r.text
	}
	if r.Branch != "" {
		return r.Short() + "-" + r.Branch
	}
	return r.Short()
}

// Short returns major and minor only: "14.3".
func (r Release) Short() string { return fmt.Sprintf("%d.%d", r.Major, r.Minor) }

// Compare orders releases by major, then minor, which is the precision of the catalogue's "since"
// and "removed". It ignores patch levels and branches, which hardly ever add tunables.
func (r Release) Compare(other Release) int {
	return cmp.Or(cmp.Compare(r.Major, other.Major), cmp.Compare(r.Minor, other.Minor))
}

// Before reports whether r is older than other.
func (r Release) Before(other Release) bool { return r.Compare(other) < 0 }

// AtLeast reports whether r is major.minor or newer.
func (r Release) AtLeast(major, minor int) bool {
	return r.Compare(Release{Major: major, Minor: minor}) >= 0
}

// MarshalText returns the release as it was given.
func (r Release) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the output of MarshalText; an empty text is the unknown release.
func (r *Release) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*r = Release{}
		return nil
	}
	parsed, err := Parse(string(b))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// UnmarshalYAML parses a release from its literal text: as a number, 6.10 would become 6.1.
func (r *Release) UnmarshalYAML(n ast.Node) error {
	if err := r.UnmarshalText([]byte(n.GetToken().Value)); err != nil {
		return &yaml.SyntaxError{Message: err.Error(), Token: n.GetToken()}
	}
	return nil
}
