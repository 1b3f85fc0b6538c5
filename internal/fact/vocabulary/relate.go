package vocabulary

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/fact"
	"linerate/internal/list"
)

// relation is what values of a file must be to each other: a line "@relation NAME KEY OPERATION [OTHER [FACTOR]]"
// of a format. NAME is the remark's case. KEY:WORD is a key whose value begins with WORD, or whose block has WORD as
// its name; KEY:* passes over the first word.
type relation struct {
	name, key, operation, other string
	factor                      float64
}

func relationOf(text string) relation {
	w := append(strings.Fields(text), "", "1")
	factor, err := strconv.ParseFloat(w[4], 64)
	if err != nil {
		factor = 1
	}
	return relation{w[0], w[1], w[2], w[3], factor}
}

// operations say which statement of others a statement contradicts; nil if none.
var operations = map[string]func(r relation, all []statement, s statement) *statement{
	// within: all addresses of KEY are in networks of OTHER, which stands around KEY or above it.
	"within": func(r relation, all []statement, s statement) *statement {
		around := enclosing(all, s, r.other)
		nets, own := spansOf(around), spans(s.value)
		if len(nets) > 0 && slices.ContainsFunc(own, func(a span) bool { return !slices.ContainsFunc(nets, a.inside) }) {
			return &around[0]
		}
		return nil
	},
	// apart: no address of KEY is one of an earlier OTHER.
	"apart": func(r relation, all []statement, s statement) *statement {
		return earlier(r, all, s, func(a, b span) bool { return a.low.Compare(b.high) <= 0 && b.low.Compare(a.high) <= 0 })
	},
	// unlike: no network of KEY is one of an earlier OTHER.
	"unlike": func(r relation, all []statement, s statement) *statement {
		return earlier(r, all, s, func(a, b span) bool { return a == b })
	},
	// outside: no address of KEY is one of OTHER, wherever it stands.
	"outside": func(r relation, all []statement, s statement) *statement {
		own, nets := spans(s.value), named(all, r.other)
		i := slices.IndexFunc(nets, func(o statement) bool {
			return slices.ContainsFunc(spans(o.value), func(n span) bool { return slices.ContainsFunc(own, func(a span) bool { return a.inside(n) }) })
		})
		return at(nets, i)
	},
	// distinct: no earlier KEY has the same value, or with "=" none beside it.
	"distinct": func(r relation, all []statement, s statement) *statement {
		same := named(all, r.key)
		i := slices.IndexFunc(same, func(o statement) bool {
			return o.number < s.number && worth.MatchString(o.value) && o.value == s.value && (r.other == "" || o.block == s.block)
		})
		return at(same, i)
	},
	// most: the number of KEY is at most FACTOR times that of OTHER.
	"most": func(r relation, all []statement, s statement) *statement {
		around := enclosing(all, s, r.other)
		if len(around) == 0 {
			return nil
		}
		a, err := strconv.ParseFloat(s.value, 64)
		b, err2 := strconv.ParseFloat(around[0].value, 64)
		if err != nil || err2 != nil || a <= r.factor*b || b == 0 {
			return nil
		}
		return &around[0]
	},
}

// worth matches a value that names something, unlike the root zone.
var worth = regexp.MustCompile(`\w`)

func at(all []statement, i int) *statement {
	if i < 0 {
		return nil
	}
	return &all[i]
}

// related returns what of a file contradicts the relations of its format.
func (f format) related(file string, all []statement) (problems []fact.Problem) {
	for i := range all {
		all[i].number = i
	}
	for _, r := range f.relations {
		for _, s := range named(all, r.key) {
			if o := operations[r.operation](r, all, s); o != nil && !unfinished.MatchString(s.value+o.value) {
				problems = append(problems, fact.Problem{File: file, Line: s.line, Kind: fact.ProblemSlip, Message: r.name, Detail: strconv.Itoa(o.line)})
			}
		}
	}
	return problems
}

// named returns the statements that an operand of a relation means, with what is behind its word as value.
func named(all []statement, operand string) []statement {
	key, word, _ := strings.Cut(operand, ":")
	return slices.DeleteFunc(slices.Clone(all), func(s statement) bool { return s.key != key || word != "" && !s.called(all, word) })
}

func (s statement) called(all []statement, word string) bool {
	return word == "*" || strings.HasPrefix(s.value, word+" ") || slices.ContainsFunc(all, func(o statement) bool { return o.block == s.block && o.key == "name" && o.value == word })
}

// enclosing returns the statements of an operand nearest to a statement: beside it or around it, and in the same
// place as that. "=" means beside it only.
func enclosing(all []statement, s statement, operand string) []statement {
	operand, beside := strings.CutPrefix(operand, "=")
	others := named(all, operand)
	for b := s.block; ; b = all[b].block {
		found := slices.DeleteFunc(slices.Clone(others), func(o statement) bool { return o.block != b || b < 0 && len(spans(o.value)) > 0 })
		if i := slices.IndexFunc(others, func(o statement) bool { return o.number == b }); i >= 0 {
			found = []statement{others[i]}
			for _, o := range others {
				if o.block == others[i].block && o.block >= 0 && o.number != b {
					found = append(found, o)
				}
			}
		}
		if len(found) > 0 || b < 0 || beside {
			return found
		}
	}
}

// earlier returns the first statement before s, of another block, that has an address as the test says.
func earlier(r relation, all []statement, s statement, same func(a, b span) bool) *statement {
	own, others := spans(s.value), named(all, r.other)
	i := slices.IndexFunc(others, func(o statement) bool {
		return o.number < s.number && slices.ContainsFunc(spans(o.value), func(n span) bool { return slices.ContainsFunc(own, func(a span) bool { return same(a, n) }) })
	})
	return at(others, i)
}

// span is the addresses from low to high.
type span struct{ low, high netip.Addr }

func (a span) inside(b span) bool {
	return a.low.Is4() == b.low.Is4() && a.low.Compare(b.low) >= 0 && a.high.Compare(b.high) <= 0
}

func spansOf(all []statement) []span {
	return slices.Concat(list.Map(all, func(s statement) []span { return spans(s.value) })...)
}

// spans returns the addresses of a value: A, A/LENGTH, A B, A - B and A netmask MASK, with commas between them. It
// passes over other words before them, and knows nothing of a value with others behind.
func spans(value string) (all []span) {
	for item := range strings.SplitSeq(value, ",") {
		words := strings.Fields(strings.ReplaceAll(item, "-", " "))
		for len(words) > 1 && !strings.ContainsAny(words[0], "0123456789:") {
			words = words[1:]
		}
		switch len(words) {
		case 3:
			words = []string{words[0] + "/" + lengthOf(words[2])}
			fallthrough
		case 1:
			low, _ := netip.ParseAddr(words[0])
			if p, err := netip.ParsePrefix(words[0]); err == nil {
				all = append(all, span{p.Masked().Addr(), last(p)})
			} else if low.IsValid() {
				all = append(all, span{low, low})
			}
		case 2:
			low, _ := netip.ParseAddr(words[0])
			if high, _ := netip.ParseAddr(words[1]); low.IsValid() && high.IsValid() {
				all = append(all, span{low, high})
			}
		}
	}
	return all
}

// lengthOf returns the length of a dotted mask; "" if it is none.
func lengthOf(mask string) string {
	for n := range 33 {
		if net := netip.PrefixFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), n); net.Masked().Addr().String() == mask {
			return strconv.Itoa(n)
		}
	}
	return ""
}

// last returns the last address of a network.
func last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}
