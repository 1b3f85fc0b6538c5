// Package commons stores studies for public reading: records without names, addresses and secrets,
// in a directory whose chain reveals removals and insertions. Readers need not trust any verdict:
// each is derived again from its trials.
package commons

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/study"
	"linerate/internal/study/record"
)

// names matches what may identify a place or person: link-layer addresses, URLs, users at hosts, paths.
// IP addresses are matched separately: those of testbeds (198.18.0.0/15, 2001:2::/48) reveal nothing.
var (
	names     = lazy.Regexp(`(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b[a-z]+://[^\s",]+|[\w.+-]+@[\w.-]+|(?:^|[\s"':=,])/[^\s"',]+`)
	addresses = lazy.Regexp(`(?i)\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b|\b[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}\b`)
	testNets  = []netip.Prefix{netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("2001:2::/48"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/32")}
)

// hidden replaces a name.
const hidden = "(left out)"

// scrub removes names from a text; known are the names that the record itself reveals.
func scrub(text string, known []string) string {
	for _, name := range known {
		text = strings.ReplaceAll(text, name, hidden)
	}
	text = names().ReplaceAllString(text, hidden)
	return addresses().ReplaceAllStringFunc(text, func(s string) string {
		a, err := netip.ParseAddr(s)
		if err != nil || slices.ContainsFunc(testNets, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return s
		}
		return hidden
	})
}

// scrubbed returns a document with all texts scrubbed, except times.
func scrubbed(v any, known []string) any {
	switch v := v.(type) {
	case string:
		return scrub(v, known)
	case []any:
		return list.Map(v, func(e any) any { return scrubbed(e, known) })
	case map[string]any:
		out := map[string]any{}
		for key, e := range v {
			if out[scrub(key, known)] = e; key != "start" {
				out[scrub(key, known)] = scrubbed(e, known)
			}
		}
		return out
	}
	return v
}

// Public returns a record for the commons: what was measured, on what hardware and system, without
// place or owner.
func Public(r *record.Record) (record.Memory, error) {
	known := namesOf(r)
	spec, err := study.Format(publicSpec(r.Spec, known))
	if err != nil {
		return nil, err
	}
	out := record.Memory{record.SpecFile: spec}
	var lines bytes.Buffer
	for _, t := range r.Trials {
		var doc any
		if err := again(t, &doc); err != nil {
			return nil, err
		}
		if err := json.NewEncoder(&lines).Encode(scrubbed(doc, known)); err != nil {
			return nil, err
		}
	}
	out[record.TrialsFile] = lines.Bytes()
	env := r.Environment
	env.Hostname, env.Command, env.Machine, env.Beds, env.Facts, env.Resumed = "", nil, "", nil, nil, nil
	env.Testbeds = map[string]study.BedNotes{}
	for mode, bed := range r.Environment.Testbeds {
		env.Testbeds[mode] = study.BedNotes{Kind: bed.Kind, Privileged: bed.Privileged}
	}
	if len(r.Facts) > 0 {
		data, err := json.Marshal(publicFacts(r.Facts[0]))
		if err != nil {
			return nil, err
		}
		out[record.FactsFile(1)] = data
		env.Facts = []study.FactsRef{{File: record.FactsFile(1), SHA256: digest(data)}}
	}
	if err := withResults(out, env); err != nil {
		return nil, err
	}
	_, err = check(out)
	return out, hint.With(err, "the commons takes only what it can derive again")
}

// withResults adds the results derived from a record's own trials.
func withResults(files record.Memory, env study.Environment) error {
	delete(files, record.ResultsFile)
	r, err := record.Read(files, "the public record")
	if err != nil {
		return err
	}
	data, err := json.Marshal(study.Analyse(r.Spec, r.Seed, env, r.Trials))
	files[record.ResultsFile] = data
	return err
}

// again converts a value to a generic JSON document that preserves the notation of numbers.
func again(v, into any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(into)
}

// namesOf returns the host names that occur in a record.
func namesOf(r *record.Record) (known []string) {
	hosts := []string{r.Environment.Hostname, r.Spec.Testbed.Host, r.Spec.Testbed.Become}
	for _, f := range r.Facts {
		hosts = append(hosts, f.Hostname)
	}
	for _, h := range hosts {
		short, _, _ := strings.Cut(h, ".")
		known = append(known, h, short)
	}
	known = slices.DeleteFunc(known, func(s string) bool { return len(s) < 3 })
	slices.SortFunc(known, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(known)
}

// sources replaces the metrics of a live study whose names are private.
var sources = map[string]string{"log": "/log", "cpu-per-request": "/log", "probe": "http://host.invalid/", "command": "/command", "prometheus": "http://host.invalid/#query"}

func publicSpec(s study.Spec, known []string) study.Spec {
	s.Question, s.Testbed.Host, s.Testbed.Become, s.Testbed.File = scrub(s.Question, known), "", "", ""
	s.Parts = slices.Clone(s.Parts)
	for i, p := range s.Parts {
		if p.Live == nil {
			continue
		}
		terms := *p.Live
		terms.Service = ""
		terms.Watch = list.Map(terms.Watch, func(source string) string {
			word, rest, _ := strings.Cut(source, ":")
			to, private := sources[word]
			if !private {
				return source
			}
			if _, part, said := strings.Cut(rest, "#"); said && word == "log" {
				to += "#" + part
			}
			return word + ":" + to
		})
		s.Parts[i].Live = &terms
	}
	return s
}

// publicFacts returns the facts that decide whether hosts are similar. The machine's identity is replaced
// by another digest, so that studies of one machine can be recognised as such without revealing it.
func publicFacts(f *fact.Facts) fact.Facts {
	out := fact.Facts{Version: f.Version, OS: f.OS, Release: f.Release, Arch: f.Arch, Distribution: f.Distribution, Hypervisor: f.Hypervisor, CPU: f.CPU, Memory: f.Memory}
	if f.MachineID != "" {
		out.MachineID = digest([]byte("commons " + f.MachineID))[:len(f.MachineID)]
	}
	for i, n := range f.NICs {
		if n.Kind == fact.KindEthernet {
			out.NICs = append(out.NICs, fact.NIC{Name: fmt.Sprintf("nic%d", i), Driver: n.Driver, Kind: n.Kind, Description: n.Description, SpeedBits: n.SpeedBits})
		}
	}
	return out
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
