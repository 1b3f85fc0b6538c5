package sshbed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"linerate/internal/apply"
	"linerate/internal/knob"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/plan"
	"linerate/internal/setting"
	"linerate/internal/testbed"
)

// variant is what a list of settings means on this DUT.
type variant struct {
	name, digest string
	values       []apply.Assignment
	files        []plan.File
	steps        []step
	wants        []want // what a boot must make of the files
	image        string // booted once; "" for the default
}

// step is a script, with one that undoes it.
type step struct{ do, undo string }

// want is a value that a boot should set.
type want struct{ mechanism, name, value string }

// cannotBeHad begins a script's message that the DUT does not support something.
const cannotBeHad = "unavailable: "

func (v variant) empty() bool { return len(v.values)+len(v.files)+len(v.steps) == 0 }

// split separates what a boot reads from what is applied to the running system.
func (v variant) split() (boot, run variant) {
	boot, run = v, v
	boot.values, boot.steps = nil, nil
	run.files, run.wants = nil, nil
	return boot, run
}

// do returns the script of all steps, which ends at the first failure.
func (v variant) do() string {
	var b strings.Builder
	for _, s := range v.steps {
		b.WriteString(s.do + " || exit 1\n")
	}
	return b.String()
}

// takeBack returns the script that undoes the steps, last first.
func (v variant) takeBack() string {
	var b strings.Builder
	for _, s := range slices.Backward(v.steps) {
		b.WriteString(s.undo + " || exit 1\n")
	}
	return b.String()
}

// variant converts settings for this DUT.
func (b *Bed) variant(ctx context.Context, settings []setting.Setting) (variant, error) {
	v := variant{digest: b.digestOf(settings)}
	if len(settings) > 0 {
		v.name = settings[0].String()
	}
	laid := map[string]plan.File{}
	for _, s := range settings {
		if err := b.add(ctx, &v, laid, s); err != nil {
			return v, err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(laid)) {
		v.files = append(v.files, laid[path])
	}
	return v, b.allowed(ctx, v)
}

// add adds one setting.
func (b *Bed) add(ctx context.Context, v *variant, laid map[string]plan.File, s setting.Setting) error {
	if why := testbed.Touches(b.o.File.Hosts.DUT.Management, append([]string{s.Name}, s.Argv...)); why != "" {
		return testbed.Unavailable(s, "refused: %s", why)
	}
	switch s.Mechanism {
	case setting.Sysctl:
		v.values = append(v.values, assign(setting.Sysctl, s.Name, s.Value, "")...)
	case setting.Link:
		m := setting.Offload
		if s.Name == "mtu" || s.Name == "txqueuelen" || b.id.OS == "freebsd" && s.Name == "media" {
			m = setting.Link
		}
		v.values = append(v.values, assign(m, s.Name, s.Value, b.devices(s.Device)...)...)
	case setting.NAPI, setting.Offload, setting.Ring, setting.Coalesce, setting.Channels, setting.RPS, setting.XPS, setting.Module:
		v.values = append(v.values, assign(s.Mechanism, s.Name, s.Value, b.devices(s.Device)...)...)
	case setting.RC, setting.Loader:
		return b.bootVariable(ctx, v, laid, s)
	case setting.Files:
		return b.tree(v, laid, s)
	case setting.Image:
		return b.image(v, s)
	default:
		return b.addStep(v, s)
	}
	return nil
}

// assign assigns a value to each of some devices; settings without a device have one called "".
func assign(m setting.Mechanism, name, value string, devices ...string) []apply.Assignment {
	return list.Map(devices, func(d string) apply.Assignment {
		return apply.Assignment{Key: knob.Key{Mechanism: m, Device: d, Name: name}, Value: value}
	})
}

// imageName matches names of boot environments, kernels and GRUB entries.
var imageName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9 ._>()/,+-]{0,99}$`)

// image selects another boot image. A boot tries only one thing: the journal of
// the files that a boot reads belongs to the default system.
func (b *Bed) image(v *variant, s setting.Setting) error {
	if b.o.Reset != Reboot || v.image != "" || !imageName().MatchString(s.Name) || strings.Contains(s.Name, "..") {
		return testbed.Unavailable(s, "a variant has one image, by its name, and a study with reset: reboot boots it")
	}
	v.image = s.Name
	return nil
}

// bootVariable appends a variable to rc.conf or loader.conf.local: the last
// line for a name counts.
func (b *Bed) bootVariable(ctx context.Context, v *variant, laid map[string]plan.File, s setting.Setting) error {
	if b.id.OS != "freebsd" {
		return testbed.Unavailable(s, "the DUT runs %s", b.id.OS)
	}
	if strings.ContainsAny(s.Value, "\"\\$`\n") || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._") != "" {
		return testbed.Unavailable(s, "it cannot be written as a line of NAME=\"VALUE\"")
	}
	path := map[setting.Mechanism]string{setting.RC: "/etc/rc.conf", setting.Loader: "/boot/loader.conf.local"}[s.Mechanism]
	f, ok := laid[path]
	if !ok {
		now, err := b.m.Look(ctx, nil, []string{path})
		if err != nil {
			return err
		}
		if now.Files[path].Other {
			return testbed.Unavailable(s, "%s is not a plain file there", path)
		}
		f = plan.File{Path: path, Mode: 0o644, Content: now.Files[path].Content}
	}
	f.Content += fmt.Sprintf("%s=\"%s\"\n", s.Name, s.Value)
	laid[path] = f
	v.wants = append(v.wants, want{string(s.Mechanism), s.Name, s.Value})
	return nil
}

// tree adds the files of a configuration set.
func (b *Bed) tree(v *variant, laid map[string]plan.File, s setting.Setting) error {
	if b.o.Tree == nil {
		return testbed.Unavailable(s, "no files are known by this name")
	}
	files, err := b.o.Tree(s.Name)
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Content, "\n") && f.Content != "" {
			f.Content += "\n"
		}
		laid[f.Path] = f
		v.wants = append(v.wants, wantsOf(f)...)
	}
	return nil
}

// wantsOf lists what a boot should set from a file: loader variables and sysctls.
// The last line for a name counts; the file itself must be as written.
func wantsOf(f plan.File) []want {
	mechanism := ""
	switch {
	case strings.HasPrefix(f.Path, "/boot/loader.conf"):
		mechanism = "loader"
	case f.Path == "/etc/sysctl.conf", f.Path == "/etc/sysctl.conf.local", strings.HasPrefix(f.Path, "/etc/sysctl.d/"):
		mechanism = "sysctl"
	}
	last, order := map[string]string{}, []string{}
	for line := range strings.Lines(f.Content) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		name = strings.TrimSpace(strings.TrimPrefix(name, "-"))
		if !ok || mechanism == "" || name == "" || strings.ContainsAny(name, " *\"'") || strings.HasSuffix(name, "_load") && mechanism == "loader" {
			continue
		}
		if _, seen := last[name]; !seen {
			order = append(order, name)
		}
		last[name] = strings.Trim(strings.TrimSpace(value), `"'`)
	}
	list := []want{{"file", f.Path, "laid"}}
	for _, name := range order {
		list = append(list, want{mechanism, name, last[name]})
	}
	return list
}

// allowed refuses files that could cut off access to the DUT, and those that
// cannot be restored exactly.
func (b *Bed) allowed(ctx context.Context, v variant) error {
	if len(v.files) == 0 {
		return nil
	}
	paths := list.Map(v.files, func(f plan.File) string { return f.Path })
	now, err := b.m.Look(ctx, nil, paths)
	if err != nil {
		return err
	}
	for _, f := range v.files {
		s := setting.Setting{Mechanism: setting.Files, Name: f.Path}
		was := now.Files[f.Path]
		if was.Other {
			return testbed.Unavailable(s, "it is not a plain file on the DUT")
		}
		if why := testbed.Forbidden(b.o.File.Hosts.DUT.Management, f.Path, was.Content, f.Content); why != "" {
			return testbed.Unavailable(s, "refused: %s", why)
		}
	}
	return nil
}
