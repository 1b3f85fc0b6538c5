package vocabulary

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/fact/network"
	"linerate/internal/lazy"
)

// relation is what values of a file must be to each other: a line "@relation NAME KEY OPERATION [OTHER [FACTOR]]"
// of a format. NAME is the remark's case. KEY:WORD is a key whose value begins with WORD, or whose block has WORD as
// its name; KEY:* passes over the first word.
type relation struct {
	name, key, operation, other string
	factor                      float64
}

func relationOf(text string) relation {
	w := append(strings.Fields(text), "", "")
	factor, err := strconv.ParseFloat(w[4], 64)
	if err != nil {
		factor = 1
	}
	return relation{w[0], w[1], w[2], w[3], factor}
}

// document has the statements of a file, and those that each operand of relations means.
type document struct {
	all      []statement
	operands map[string][]statement
}

// operations say which of the statements of OTHER a statement of KEY contradicts; nil if none.
var operations = map[string]func(d document, r relation, s statement) *statement{
	// within: all addresses of KEY are in networks of OTHER, which stands around KEY or above it.
	"within": func(d document, r relation, s statement) *statement {
		around := d.enclosing(s, r.other)
		for _, a := range s.addresses {
			if in := func(o statement) bool { return slices.ContainsFunc(o.addresses, a.inside) }; len(around) > 0 && len(around[0].addresses) > 0 && !slices.ContainsFunc(around, in) {
				return &around[0]
			}
		}
		return nil
	},
	// apart: no address of KEY is one of an earlier OTHER.
	"apart": func(d document, r relation, s statement) *statement {
		return first(d.named(r.other), func(o statement) bool { return o.number < s.number && s.touches(o, span.overlaps) })
	},
	// unique: no network of KEY is that of an earlier OTHER in another block.
	"unique": func(d document, r relation, s statement) *statement {
		return first(d.named(r.other), func(o statement) bool {
			return o.number < s.number && o.block != s.block && s.touches(o, func(a, b span) bool { return a == b })
		})
	},
	// outside: no address of KEY is one of OTHER, wherever it stands.
	"outside": func(d document, r relation, s statement) *statement {
		return first(d.named(r.other), func(o statement) bool { return s.touches(o, span.inside) })
	},
	// distinct: no earlier KEY has the same value, or with "=" none beside it.
	"distinct": func(d document, r relation, s statement) *statement {
		return first(d.named(r.key), func(o statement) bool {
			return o.number < s.number && o.value == s.value && worth().MatchString(o.value) && (r.other == "" || o.block == s.block)
		})
	},
	// most: the number of KEY is at most FACTOR times that of OTHER.
	"most": func(d document, r relation, s statement) *statement {
		around := d.enclosing(s, r.other)
		return first(around[:min(1, len(around))], func(o statement) bool { b := number(o.value); return b > 0 && number(s.value) > r.factor*b })
	},
}

// worth matches a value that names something, unlike the root zone.
var worth = lazy.Regexp(`\w`)

// units of time are those of strongSwan.
var units = map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400}

// number returns a value's number, which may have a unit of time; 0 if it is none.
func number(value string) float64 {
	n, unit := strings.ToLower(value), 1.0
	if last := len(n) - 1; last > 0 && units[n[last]] > 0 {
		n, unit = strings.TrimSpace(n[:last]), units[n[last]]
	}
	x, _ := strconv.ParseFloat(n, 64)
	return x * unit
}

func first(all []statement, is func(statement) bool) *statement {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return &all[i]
	}
	return nil
}

// mostRelated is the number of statements of a file whose relations are judged: their pairs cost time.
const mostRelated = 1 << 14

// related returns what of a file contradicts the relations of its format.
func (f format) related(file string, all []statement) (problems []fact.Problem) {
	d := document{all, map[string][]statement{}}
	for i := range all {
		all[i].number = i
	}
	for _, r := range f.relations {
		for _, s := range d.named(r.key) {
			if o := operations[r.operation](d, r, s); o != nil && len(problems) < most && len(all) < mostRelated && !unfinished().MatchString(s.value+o.value) {
				problems = append(problems, fact.Problem{File: file, Line: s.line, Kind: fact.ProblemSlip, Message: r.name, Detail: strconv.Itoa(o.line)})
			}
		}
	}
	return problems
}

// named returns the statements that an operand means, with their addresses.
func (d document) named(operand string) []statement {
	if found, known := d.operands[operand]; known {
		return found
	}
	key, word, _ := strings.Cut(operand, ":")
	found := []statement{}
	for _, s := range d.all {
		called := func(o statement) bool { return o.block == s.block && o.key == "name" && o.value == word }
		if s.key != key || word != "" && word != "*" && !strings.HasPrefix(s.value, word+" ") && !slices.ContainsFunc(d.all, called) {
			continue
		}
		if word == "*" {
			s.value = strings.Fields(s.value + " . .")[1]
		}
		s.addresses = spans(s.value)
		found = append(found, s)
	}
	d.operands[operand] = found
	return found
}

// enclosing returns the statements of an operand nearest to a statement: beside it or around it, and in the same
// place as that. "=" means beside it only.
func (d document) enclosing(s statement, operand string) (found []statement) {
	operand, beside := strings.CutPrefix(operand, "=")
	others := d.named(operand)
	for b := s.block; ; b = d.all[b].block {
		around := first(others, func(o statement) bool { return o.number == b })
		for _, o := range others {
			if o.block == b && (b >= 0 || len(o.addresses) == 0) || around != nil && (o.number == b || o.block == around.block && b >= 0 && o.block >= 0) {
				found = append(found, o)
			}
		}
		if len(found) > 0 || b < 0 || beside {
			return found
		}
	}
}

// touches reports whether addresses of two statements are to each other as the test says.
func (s statement) touches(o statement, test func(a, b span) bool) bool {
	return slices.ContainsFunc(s.addresses, func(a span) bool { return slices.ContainsFunc(o.addresses, func(b span) bool { return test(a, b) }) })
}

// span is the addresses from low to high.
type span struct{ low, high netip.Addr }

func (a span) inside(b span) bool { return a.low.Compare(b.low) >= 0 && a.high.Compare(b.high) <= 0 }

func (a span) overlaps(b span) bool {
	return a.low.Compare(b.high) <= 0 && b.low.Compare(a.high) <= 0
}

// spans returns the addresses of a value: A, A/LENGTH, A B, A - B and A netmask MASK, with commas between them. It
// passes over other words before them, and knows nothing of a value with others behind.
func spans(value string) (all []span) {
	for item := range strings.SplitSeq(value, ",") {
		words := strings.Fields(strings.ReplaceAll(item, "-", " "))
		for len(words) > 1 && !strings.ContainsAny(words[0], "0123456789:") {
			words = words[1:]
		}
		if len(words) == 3 {
			words = []string{words[0] + network.Length(words[0], words[2])}
		}
		if len(words) == 0 || len(words) > 2 {
			continue
		}
		low, _ := netip.ParseAddr(words[0])
		high, _ := netip.ParseAddr(words[len(words)-1])
		if p, err := netip.ParsePrefix(words[0]); err == nil {
			low, high = p.Masked().Addr(), network.Last(p)
		}
		if low.IsValid() && high.IsValid() {
			all = append(all, span{low, high})
		}
	}
	return all
}
