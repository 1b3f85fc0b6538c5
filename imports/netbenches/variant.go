package netbenches

import (
	"path"
	"slices"
	"sort"
	"strings"
)

// configFor finds the configuration set with which a series ran: by the name of the published
// reduction, of the series or in .info; failing that, the only set whose name differs just by
// "default" or a doubled letter.
func (t *Tree) configFor(s *Series) *Config {
	topic := topicDir(s.Study)
	if topic == "" {
		return nil
	}
	sets := t.sets[topic]
	names := []string{s.Published, s.Config}
	if s.Info != nil {
		names = append(names, s.Info.Config)
	}
	for _, n := range names {
		if c := sets[n]; c != nil && n != "" {
			return c
		}
	}
	for _, n := range names {
		if c := alike(sets, n); c != nil {
			return c
		}
	}
	if len(sets) == 1 {
		return sets[""]
	}
	return nil
}

// bySet indexes the configuration sets by topic and name.
func (t *Tree) bySet() {
	t.sets = map[string]map[string]*Config{}
	for dir, c := range t.Configs {
		topic, name := topicOfSet(dir)
		if t.sets[topic] == nil {
			t.sets[topic] = map[string]*Config{}
		}
		t.sets[topic][name] = c
	}
}

// topicOfSet splits the folder of a configuration set. If the "configs" folder
// itself is the set, its name is "".
func topicOfSet(dir string) (topic, name string) {
	if name = path.Base(dir); name == "configs" || name == "config" {
		return path.Dir(dir), ""
	}
	return path.Dir(path.Dir(dir)), name
}

// alike returns the only set whose name is equal after folding.
func alike(sets map[string]*Config, name string) *Config {
	if name == "" {
		return nil
	}
	var found *Config
	for n, c := range sets {
		if foldName(n) == foldName(name) {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}

// foldName normalises the name of a set: without "default", order, case and
// doubled letters. Digits are kept.
func foldName(s string) string {
	var out []string
	for _, w := range words(s) {
		if w != "default" && w != "defaults" {
			out = append(out, undouble(w))
		}
	}
	sort.Strings(out)
	return strings.Join(out, "-")
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r == '-' || r == '_' || r == '.' || r == ' ' })
}

func undouble(w string) string {
	var b strings.Builder
	var last rune
	for _, r := range w {
		if r != last || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// topicDir returns the folder that contains configs and results.
func topicDir(study string) string {
	dir := study
	for dir != "." && dir != "/" {
		if b := path.Base(dir); b == "results" || b == "result" {
			return path.Dir(dir)
		}
		dir = path.Dir(dir)
	}
	return ""
}

// group is the series of a study that answer one question: variants with the
// same workload.
type group struct {
	series []*Series
	label  func(*Series) string
}

// groups arranges the series of a study into comparisons: configurations with
// each other for each workload and image, and images with each other for each
// workload and configuration.
func groups(series []*Series) []group {
	out := by(series, func(s *Series) string { return join(s.workload(), s.Image) }, func(s *Series) string { return s.Config })
	images := by(series, func(s *Series) string { return join(s.workload(), s.Config) }, func(s *Series) string { return s.Image })
	return append(out, images...)
}

// by groups series that share a key and differ in their label.
func by(series []*Series, key, label func(*Series) string) []group {
	var out []group
	at := map[string]int{}
	for _, s := range series {
		k := key(s)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, group{label: label})
		}
		if !slices.ContainsFunc(out[i].series, func(o *Series) bool { return label(o) == label(s) }) {
			out[i].series = append(out[i].series, s)
		}
	}
	return slices.DeleteFunc(out, func(g group) bool { return len(g.series) < 2 })
}

func (s *Series) workload() string { return join(s.Workload, s.Qualifier) }

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// control selects the series to compare the others with: the one that a
// README uses, else by the words in its name, else the first.
func (g *group) control(readme map[*Series]int) *Series {
	best := slices.MaxFunc(g.series, func(a, b *Series) int { return readme[a] - readme[b] })
	if readme[best] > 0 {
		return best
	}
	for _, w := range loadNames().Controls {
		for _, s := range g.series {
			if slices.Contains(words(g.label(s)), w) {
				return s
			}
		}
	}
	return g.series[0]
}
