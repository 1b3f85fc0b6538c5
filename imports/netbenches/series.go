package netbenches

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Iteration is one trial: the logs of one run after one reboot.
type Iteration struct {
	Number      int
	Name        string // of its first file, for the order in which ls lists it
	Receivers   []*Reading
	Senders     []*Reading
	Equilibrium *Equilibrium
}

// Series is the trials of one variant under one workload in one folder.
type Series struct {
	Dir        string // folder of the logs
	Study      string // folder of the study they belong to
	Qualifier  string // of a folder RAW.<qualifier>
	Key        string // the part of the file names between "bench" and iteration
	Image      string
	Config     string
	Workload   string
	Published  string // configuration by the name of its published reduction, "" if it has none
	Info       *Info
	Iterations []*Iteration // in the order of ls: 1, 10, 2 …
}

// values are the iterations' numbers, of those that have one.
func (s *Series) values(of func(*Iteration) (float64, bool)) (out []float64) {
	for _, it := range s.Iterations {
		if v, ok := of(it); ok {
			out = append(out, v)
		}
	}
	return out
}

// middle is the archive's own reduction of an iteration's first log.
func middle(logs []*Reading, of func(*Reading) float64) (float64, bool) {
	if len(logs) == 0 {
		return 0, false
	}
	return of(logs[0]), logs[0].Usable
}

func (r *Reading) script() float64 { return r.Script }
func (r *Reading) upper() float64  { return r.Upper }

func (it *Iteration) equilibrium() (float64, bool) {
	if it.Equilibrium == nil {
		return 0, false
	}
	return it.Equilibrium.Estimate, it.Equilibrium.Done
}

func (it *Iteration) maximum() (float64, bool) {
	if it.Equilibrium == nil {
		return 0, false
	}
	return it.Equilibrium.Maximum, it.Equilibrium.Done
}

// assemble groups what was parsed into series, in path order.
func (t *Tree) assemble(out []parsed) {
	t.Configs = map[string]*Config{}
	series, runs, infos := map[string]*Series{}, map[string]*Iteration{}, map[string]*Info{}
	for i, f := range t.Files {
		p, dir, base := &out[i], path.Dir(f.Path), path.Base(f.Path)
		switch {
		case p.log != nil || p.eq != nil:
			t.run(series, runs, p, dir, base)
		case p.info != nil:
			infos[dir+"\x00"+InfoKey(base)] = p.info
		case p.values != nil && path.Ext(base) == ".pps":
			t.Reductions = append(t.Reductions, Reduction{dir, strings.TrimSuffix(base, ".pps"), p.values})
		case p.readme != nil:
			t.Readmes = append(t.Readmes, p.readme)
		case f.Role == RoleConfig && f.SHA256 != "":
			set, inside := configSet(f.Path)
			if t.Configs[set] == nil {
				t.Configs[set] = &Config{}
			}
			t.Configs[set].add(inside, p.config)
		}
	}
	slices.SortFunc(t.Series, func(x, y *Series) int { return cmp.Or(cmp.Compare(x.Dir, y.Dir), cmp.Compare(x.Key, y.Key)) })
	t.bySet()
	for _, s := range t.Series {
		slices.SortFunc(s.Iterations, func(x, y *Iteration) int { return cmp.Compare(x.Name, y.Name) })
		s.Info = infos[s.Dir+"\x00"+s.Key]
		s.name()
	}
}

// run puts one log into its iteration and series.
func (t *Tree) run(series map[string]*Series, runs map[string]*Iteration, p *parsed, dir, base string) {
	n, _ := ParseRawName(base)
	key := dir + "\x00" + n.Key
	s := series[key]
	if s == nil {
		s = &Series{Dir: dir, Key: n.Key}
		s.Study, s.Qualifier = rawQualifier(dir)
		series[key] = s
		t.Series = append(t.Series, s)
	}
	id := key + "\x00" + base[:len(base)-len(n.Suffix)]
	it := runs[id]
	if it == nil {
		it = &Iteration{Number: n.Iteration, Name: base}
		runs[id] = it
		s.Iterations = append(s.Iterations, it)
	}
	switch {
	case p.eq != nil:
		it.Equilibrium = p.eq
	case strings.HasPrefix(n.Suffix, "sender"):
		it.Senders = append(it.Senders, p.log)
	default:
		it.Receivers = append(it.Receivers, p.log)
	}
}

// name splits the key with what .info says. Where files were renamed after
// the run, the file name wins: it is what the author corrected.
func (s *Series) name() {
	s.Config = s.Key
	if s.Info == nil {
		return
	}
	image, config := s.Info.ImageLabel(), s.Info.Config
	if r, ok := cutSuffixPart(s.Config, s.Info.Workload); ok {
		s.Config, s.Workload = r, s.Info.Workload
	}
	s.Image = image
	if s.Config != config {
		s.Config, _ = cutPrefixPart(s.Config, image)
	}
	if !s.Info.Early || s.Config == config {
		return
	}
	// A key of 2015: REV.CFG, or CFG.PKTGEN, or a name of the workload alone (RFC 2544 sizes).
	if r, ok := cutSuffixPart(s.Config, config); ok {
		s.Config, s.Image = config, cmp.Or(s.Image, r)
	} else if r, ok := cutPrefixPart(s.Config, config); ok {
		s.Config, s.Workload = config, r
	}
}

// cutSuffixPart cuts ".part" off, or all of it; never an empty part.
func cutSuffixPart(s, part string) (string, bool) {
	if s == part && part != "" {
		return "", true
	}
	r, ok := strings.CutSuffix(s, "."+part)
	if part == "" || r == "" || !ok {
		return s, false
	}
	return r, true
}

func cutPrefixPart(s, part string) (string, bool) {
	if s == part && part != "" {
		return "", true
	}
	r, ok := strings.CutPrefix(s, part+".")
	if part == "" || r == "" || !ok {
		return s, false
	}
	return r, true
}
