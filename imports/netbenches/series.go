package netbenches

import "cmp"

// Reading is one log, reduced.
type Reading struct {
	File    *File
	Command string
	Host    string
	Script  [2]float64 // by MedianRule
	Usable  bool       // the script finds rows to reduce
	Steady  Steady
	Settled bool // there is a steady part
	Lines   int
	First   int       // first line with a report, 0 if none
	Last    int       // last such line
	Rates   []float64 // packets per second, each interval
	Packets uint64    // of the summary
	Seconds float64
	Faults  []string
	Empty   bool
}

// Iteration is one trial: the logs of one run after one reboot.
type Iteration struct {
	Number      int
	Name        string // of its first file, for the order in which ls lists it
	Receivers   []*Reading
	Senders     []*Reading
	Equilibrium *Equilibrium
	EqFile      *File
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
	Info       *Info
	InfoFile   *File
	Iterations []*Iteration // in the order of ls: 1, 10, 2 …
}

// Vector is one value per iteration in ls order, reduced one way; iterations
// that left nothing to reduce are skipped and counted.
type Vector struct {
	Series  *Series
	Kind    Kind
	Values  []float64
	Files   []*File
	Skipped int
}

// Kind is what the values of a vector are.
type Kind string

// The kinds.
const (
	KindReceiver Kind = "receiver pps"
	KindUpper    Kind = "receiver pps, upper median"
	KindSender   Kind = "sender pps"
	KindEstimate Kind = "equilibrium Mb/s"
	KindMaximum  Kind = "maximum Mb/s"
)

// Unit is the unit of a kind's values.
func (k Kind) Unit() string {
	if k == KindEstimate || k == KindMaximum {
		return "Mb/s"
	}
	return "pps"
}

// Vector reduces the series one way.
func (s *Series) Vector(k Kind) Vector {
	v := Vector{Series: s, Kind: k}
	for _, it := range s.Iterations {
		x, f, has, ok := it.value(k)
		switch {
		case ok:
			v.Values, v.Files = append(v.Values, x), append(v.Files, f)
		case has:
			v.Skipped++
		}
	}
	return v
}

// value is the iteration's number of one kind; has says that a log of that
// kind exists, ok that it holds a number.
func (it *Iteration) value(k Kind) (x float64, f *File, has, ok bool) {
	switch k {
	case KindEstimate, KindMaximum:
		if it.Equilibrium == nil {
			return 0, nil, false, false
		}
		x = it.Equilibrium.Estimate
		if k == KindMaximum {
			x = it.Equilibrium.Maximum
		}
		return x, it.EqFile, true, it.Equilibrium.Done
	case KindSender:
		return reduced(it.Senders, MeanOfMiddle)
	case KindUpper:
		return reduced(it.Receivers, UpperMiddle)
	}
	return reduced(it.Receivers, MeanOfMiddle)
}

func reduced(logs []*Reading, rule MedianRule) (x float64, f *File, has, ok bool) {
	if len(logs) == 0 {
		return 0, nil, false, false
	}
	return logs[0].Script[rule], logs[0].File, true, logs[0].Usable
}

// kinds are the reductions that exist for a series, receiver first.
func (s *Series) kinds() []Kind {
	var rx, tx, eq bool
	for _, it := range s.Iterations {
		rx = rx || len(it.Receivers) > 0
		tx = tx || len(it.Senders) > 0
		eq = eq || it.Equilibrium != nil
	}
	var out []Kind
	if rx {
		out = append(out, KindReceiver, KindUpper)
	}
	if eq {
		out = append(out, KindEstimate, KindMaximum)
	}
	if tx {
		out = append(out, KindSender)
	}
	return out
}

// name splits the key with what .info says. Where files were renamed after
// the run, the file name wins: it is what the author corrected.
func (s *Series) name() {
	var image, config, workload string
	if s.Info != nil {
		image, config, workload = s.Info.ImageLabel(), s.Info.Config, s.Info.Workload
	}
	rest := s.Key
	if workload != "" {
		if r, ok := cutSuffixPart(rest, workload); ok {
			rest = r
		} else {
			workload = ""
		}
	}
	if image != "" && rest != config {
		if r, ok := cutPrefixPart(rest, image); ok {
			rest = r
		}
	}
	s.Image, s.Workload, s.Config = image, workload, rest
	if s.Info != nil && s.Info.Generation == 1 && rest != config && config != "" {
		s.generation1(config, rest)
	}
}

// generation1 splits a key of 2015: REV.CFG, or CFG.PKTGEN, or a name of the
// workload alone (RFC 2544 sizes).
func (s *Series) generation1(config, rest string) {
	if r, ok := cutSuffixPart(rest, config); ok {
		s.Config = config
		s.Image = cmp.Or(s.Image, r)
		return
	}
	if r, ok := cutPrefixPart(rest, config); ok {
		s.Config, s.Workload = config, r
	}
}

func cutSuffixPart(s, part string) (string, bool) {
	if s == part {
		return "", true
	}
	n := len(s) - len(part) - 1
	if n > 0 && s[n] == '.' && s[n+1:] == part {
		return s[:n], true
	}
	return s, false
}

func cutPrefixPart(s, part string) (string, bool) {
	if s == part {
		return "", true
	}
	if len(s) > len(part) && s[len(part)] == '.' && s[:len(part)] == part {
		return s[len(part)+1:], true
	}
	return s, false
}
