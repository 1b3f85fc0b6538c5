package netbenches

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Iteration is a trial: the logs of one run after a reboot.
type Iteration struct {
	Number      int
	Name        string // of its first file, for the order of ls
	Receivers   []*Reading
	Senders     []*Reading
	Equilibrium *Equilibrium
}

// Series holds the trials of one variant with one workload in one folder.
type Series struct {
	Dir        string // folder of the logs
	Study      string // folder of their study
	Qualifier  string // from a folder RAW.<qualifier>
	Key        string // part of the file names between "bench" and iteration
	Image      string
	Config     string
	Workload   string
	Published  string // configuration according to the name of the published reduction, "" if there is none
	Info       *Info
	Iterations []*Iteration // in the order of ls: 1, 10, 2 …
}

func (s *Series) values(of func(*Iteration) (float64, bool)) (out []float64) {
	for _, it := range s.Iterations {
		if v, ok := of(it); ok {
			out = append(out, v)
		}
	}
	return out
}

// middle returns one of the archive's reductions of an iteration's first log.
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

// assemble groups the parsed files into series, in path order.
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

// run adds a log to its iteration and series.
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

// name splits the key with the help of .info. If files were renamed after the
// run, the file name takes precedence, because it is the author's correction.
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
	// Keys of 2015: REV.CFG, CFG.PKTGEN, or only a name of the workload (RFC 2544 sizes).
	if r, ok := cutSuffixPart(s.Config, config); ok {
		s.Config, s.Image = config, cmp.Or(s.Image, r)
	} else if r, ok := cutPrefixPart(s.Config, config); ok {
		s.Config, s.Workload = config, r
	}
}

// cutSuffixPart removes ".part" or the whole string, but never an empty part.
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
