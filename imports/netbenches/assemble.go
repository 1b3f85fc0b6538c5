package netbenches

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// assemble groups what was parsed into series, in path order.
func (t *Tree) assemble(out []parsed) {
	t.Configs, t.Labs = map[string]*Config{}, map[string]*Lab{}
	t.Loads = map[string]Workload{}
	t.Profiles, t.Infos = map[string][]*File{}, map[string]*InfoDoc{}
	b := builder{t: t, series: map[string]*Series{}, runs: map[string]*Iteration{}}
	for i, f := range t.Files {
		b.add(f, &out[i])
	}
	b.finish()
}

type builder struct {
	t      *Tree
	series map[string]*Series
	runs   map[string]*Iteration
}

func (b *builder) add(f *File, p *parsed) {
	dir, base := path.Dir(f.Path), path.Base(f.Path)
	switch {
	case p.log != nil || p.eq != nil:
		b.run(f, p, dir, base)
	case p.info != nil:
		b.t.Infos[f.Path] = &InfoDoc{File: f, Dir: dir, Key: InfoKey(base), Info: *p.info}
	case p.values != nil:
		b.t.Stored = append(b.t.Stored, &Stored{File: f, Dir: dir, Name: base, Values: p.values})
	case p.plot != nil:
		b.t.Plots = append(b.t.Plots, &Plot{File: f, Dir: dir, Rows: p.plot})
	case p.readme != nil:
		b.t.Readmes = append(b.t.Readmes, p.readme)
	case p.lab != nil:
		p.lab.File = f
		b.t.Labs[dir] = p.lab
	case p.work != nil:
		p.work.Name = base
		b.t.Loads[base] = *p.work
	case f.Role == RoleConfig && f.SHA256 != "":
		b.config(f, p.config)
	case f.Role == RoleProfile:
		b.t.Profiles[dir] = append(b.t.Profiles[dir], f)
	}
}

// run puts one log into its iteration and series.
func (b *builder) run(f *File, p *parsed, dir, base string) {
	n, _ := ParseRawName(base)
	key := dir + "\x00" + n.Key
	s := b.series[key]
	if s == nil {
		s = &Series{Dir: dir, Key: n.Key}
		s.Study, s.Qualifier = rawQualifier(dir)
		b.series[key] = s
		b.t.Series = append(b.t.Series, s)
	}
	id := key + "\x00" + base[:len(base)-len(n.Suffix)]
	it := b.runs[id]
	if it == nil {
		it = &Iteration{Number: n.Iteration, Name: base}
		b.runs[id] = it
		s.Iterations = append(s.Iterations, it)
	}
	switch {
	case p.eq != nil:
		it.Equilibrium, it.EqFile = p.eq, f
	case strings.HasPrefix(n.Suffix, "receiver"):
		it.Receivers = append(it.Receivers, p.log)
	case strings.HasPrefix(n.Suffix, "sender"):
		it.Senders = append(it.Senders, p.log)
	default:
		it.Receivers = append(it.Receivers, p.log)
	}
}

// config adds a file's settings to its configuration set.
func (b *builder) config(f *File, settings []Assignment) {
	set, inside := configSet(f.Path)
	c := b.t.Configs[set]
	if c == nil {
		c = &Config{Dir: set}
		b.t.Configs[set] = c
	}
	c.add(f, inside, settings)
}

func (b *builder) finish() {
	t := b.t
	slices.SortFunc(t.Series, func(x, y *Series) int {
		return cmp.Or(cmp.Compare(x.Dir, y.Dir), cmp.Compare(x.Key, y.Key))
	})
	t.bySet()
	infos := map[string]*InfoDoc{}
	for _, d := range t.Infos {
		infos[d.Dir+"\x00"+d.Key] = d
	}
	for _, s := range t.Series {
		slices.SortFunc(s.Iterations, func(x, y *Iteration) int { return cmp.Compare(x.Name, y.Name) })
		if d := infos[s.Dir+"\x00"+s.Key]; d != nil {
			s.Info, s.InfoFile = &d.Info, d.File
		}
		s.name()
	}
}
