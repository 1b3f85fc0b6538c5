package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
)

// FactsDigest returns a digest of what a host is and how it is configured: system,
// hardware, the settings in its files, and the running values of settable names.
// Counters, states and transient interfaces do not affect it. settable reports
// whether a name's running value is a setting.
func FactsDigest(f *fact.Facts, settable func(name string) bool) string {
	h := sha256.New()
	var buf []byte
	put := func(values ...any) {
		buf = buf[:0]
		for _, v := range values {
			switch v := v.(type) {
			case string:
				buf = append(append(strconv.AppendInt(buf, int64(len(v)), 10), ':'), v...)
			default:
				buf = fmt.Appendf(buf, "%v;", v)
			}
		}
		h.Write(append(buf, '\n'))
	}
	put(f.OS, f.Release.String(), f.Kernel, f.Arch, f.Distribution, f.Machine, f.Hypervisor, f.CPU.Model, f.CPU.Count, f.CPU.Governor, f.CPU.IOMMU, f.Memory.Physical>>26)
	passing := map[string]bool{}
	for _, n := range f.NICs {
		if n.Kind == fact.KindVirtual && len(n.Configured) == 0 {
			passing[n.Name] = true
			continue
		}
		put(n.Name, n.Driver, n.MTU, n.Options, n.RXQueues, n.TXQueues, n.RXDescriptors, n.TXDescriptors, n.ConfigFlags)
		lines(put, n.Configured)
	}
	for _, s := range f.Settings {
		live := ""
		if s.Live != nil && !ofPassing(s.Name, passing) && settable(s.Name) {
			live = *s.Live
		}
		if live == "" && len(s.Lines) == 0 {
			continue
		}
		put(s.Name, string(s.Namespace), live)
		lines(put, s.Lines)
	}
	for _, m := range f.Modules {
		lines(put, m.Lines)
	}
	for _, s := range f.Services {
		put(s.Name)
		lines(put, s.Details)
	}
	for _, p := range f.Problems {
		put(p.File, p.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

func lines(put func(...any), all []fact.Line) {
	for _, l := range all {
		if !l.Default {
			put(l.File, l.Name, l.Value, l.Effective)
		}
	}
}

// ofPassing reports whether a name is a setting of a transient interface, such as a container's.
func ofPassing(name string, passing map[string]bool) bool {
	if len(passing) == 0 {
		return false
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '/' }), func(part string) bool { return passing[part] })
}
