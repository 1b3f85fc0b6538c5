package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"linerate/internal/fact/release"
	"linerate/internal/hint"
	"linerate/internal/list"
	"linerate/internal/setting"
)

// Limits of a plan document, far above real ones.
const (
	MaxDocument = 4 << 20
	MaxSettings = 4096
	MaxValue    = 4096 // bytes of a value, name or device
)

// ErrDigest means that the document does not match its digest.
var ErrDigest = errors.New("the plan was changed after it was made")

// Parse parses a plan document from an untrusted source. It checks size, completeness, version and
// digest.
func Parse(doc []byte) (Plan, error) {
	p, err := decode(doc)
	if err != nil {
		return Plan{}, err
	}
	want, err := digest(p)
	if err != nil {
		return Plan{}, err
	}
	if p.Digest == "" {
		return Plan{}, hint.With(errors.New("the plan has no digest"), "linerate plan show with %s checks a plan that was written by hand, and adds it", hint.Option("seal", ""))
	}
	if p.Digest != want {
		return Plan{}, hint.With(fmt.Errorf("%w: its digest says %s, its content %s", ErrDigest, p.Short(), Plan{Digest: want}.Short()),
			"make the plan again; if you changed it on purpose, linerate plan show with %s adds a new digest", hint.Option("seal", ""))
	}
	return p, nil
}

// ParseUnsealed parses a plan document that was written or changed by hand, and seals it. It checks
// everything but the digest.
func ParseUnsealed(doc []byte) (Plan, error) {
	p, err := decode(doc)
	if err != nil {
		return Plan{}, err
	}
	return Seal(p)
}

func decode(doc []byte) (Plan, error) {
	if len(doc) > MaxDocument {
		return Plan{}, fmt.Errorf("plan of %d bytes: the limit is %d", len(doc), MaxDocument)
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	var p Plan
	if err := dec.Decode(&p); err != nil {
		return Plan{}, hint.With(fmt.Errorf("not a plan: %w", err), "a plan is the file that linerate plan writes with %s", hint.Option("out", "FILE"))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Plan{}, errors.New("not a plan: there is data after the document")
	}
	if p.Version != Version {
		return Plan{}, hint.With(fmt.Errorf("plan of version %d: this linerate reads version %d", p.Version, Version), "make the plan again")
	}
	return p, p.Check()
}

// Check returns an error if the plan cannot be applied: it requires known mechanisms, clean names,
// drop-in files as places, and no duplicate settings.
func (p Plan) Check() error {
	if p.OS != "freebsd" && p.OS != "linux" {
		return fmt.Errorf("plan for the system %q: want freebsd or linux", clip(p.OS))
	}
	if _, err := release.Parse(p.Release); err != nil {
		return hint.With(fmt.Errorf("the plan's %w", err), "it is what uname -r says on the host; its first two numbers must fit")
	}
	if len(p.Settings) > MaxSettings {
		return fmt.Errorf("plan of %d settings: the limit is %d", len(p.Settings), MaxSettings)
	}
	seen := map[string]bool{}
	for i, s := range p.Settings {
		if err := s.check(p.OS); err != nil {
			return fmt.Errorf("setting %d, %q: %w", i+1, clip(s.Name), err)
		}
		if seen[s.ID()] {
			return fmt.Errorf("setting %d: %s is in the plan twice", i+1, s.Title())
		}
		seen[s.ID()] = true
	}
	return nil
}

func (s Step) check(os string) error {
	if !slices.Contains(setting.HostMechanisms(), s.Mechanism) {
		known := list.Map(setting.HostMechanisms(), func(m setting.Mechanism) string { return string(m) })
		return hint.Unknown("mechanism", string(s.Mechanism), known)
	}
	for what, text := range map[string]string{"name": s.Name, "device": s.Device} {
		if !word(text) || (what == "name" && text == "") {
			return fmt.Errorf("its %s %q is not one", what, clip(text))
		}
	}
	if !isOneLine(s.Value) || (s.Current.Value != nil && !isOneLine(*s.Current.Value)) {
		return errors.New("its value is not one line of text")
	}
	if s.Where.File == "" && !s.Where.Runtime {
		return errors.New("it has no place, neither in a file nor on the running host")
	}
	if s.Where.File != "" && !slices.Contains(Places(os), s.Where.File) {
		return hint.With(fmt.Errorf("it would write %q", clip(s.Where.File)),
			"plans write %s, never other people's files", strings.Join(Places(os), ", "))
	}
	return s.checkNetwork(os)
}

// word reports whether s has only characters of names of settings and interfaces: nothing special
// to a shell, a path or a format.
func word(s string) bool {
	if len(s) > MaxValue || strings.HasPrefix(s, "-") || strings.Contains(s, "..") || path.IsAbs(s) {
		return false
	}
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@%/+") == ""
}

// isOneLine reports whether s is printable text on one line.
func isOneLine(s string) bool {
	if len(s) > MaxValue || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < ' ' && r != '\t') || r == 0x7f })
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
