package tunable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"linerate/internal/hint"
	"linerate/internal/list"
)

// Match is a record found by a search. Higher scores come first.
type Match struct {
	Record *Record
	Score  int
}

// Scores of a word, by where it is found.
const (
	inNamePart = 6 // a whole component of the name: tcp in net.ipv4.tcp_wmem
	inName     = 4
	inConcept  = 3
	inSummary  = 2
	inText     = 1
)

// Search returns the records of an operating system ("" for all) that match every word: "tcp send
// buffer" finds net.ipv4.tcp_wmem and net.inet.tcp.sendspace. It returns at most the given number,
// best first; 0 means no limit.
func (c *Catalogue) Search(os, words string, most int) []Match {
	wanted := stems(words)
	if len(wanted) == 0 {
		return nil
	}
	var found []Match
	for _, r := range c.Records {
		if os != "" && r.OS != os {
			continue
		}
		if s := c.score(r, wanted); s > 0 {
			found = append(found, Match{r, s})
		}
	}
	list.Sort(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(len(a.Record.Name), len(b.Record.Name)))
	})
	if most > 0 && len(found) > most {
		found = found[:most]
	}
	return found
}

// stems returns the words in lower case, without a plural s.
func stems(words string) []string {
	all := strings.Fields(strings.ToLower(words))
	for i, w := range all {
		if len(w) > 3 && !strings.HasSuffix(w, "ss") {
			all[i] = strings.TrimSuffix(w, "s")
		}
	}
	return all
}

// score adds the scores of the words; it is 0 if one of them does not match. Records that the
// newest release lacks rank lower.
func (c *Catalogue) score(r *Record, words []string) int {
	name := strings.ToLower(r.Name)
	parts := strings.FieldsFunc(name, func(x rune) bool { return strings.ContainsRune("._-/: ", x) })
	k, _ := c.Concept(r.Concept)
	concept := strings.ReplaceAll(strings.ToLower(k.Name+" "+k.Title), "-", " ")
	summary := strings.ToLower(r.Summary)
	text := r.proseFor(k)
	sum := 0
	for _, w := range words {
		switch {
		case slices.Contains(parts, w):
			sum += inNamePart
		case strings.Contains(name, w):
			sum += inName
		case strings.Contains(concept, w):
			sum += inConcept
		case strings.Contains(summary, w):
			sum += inSummary
		case strings.Contains(text, w):
			sum += inText
		default:
			return 0
		}
	}
	sum *= 2
	if strings.Contains(" "+concept+" ", " "+strings.Join(words, " ")+" ") {
		sum += 2 * inNamePart
	}
	if !r.Removed.IsZero() {
		sum -= inNamePart
	}
	if r.Driver != "" {
		sum -= inSummary // specific to one card: general ones come first
	}
	return max(sum, 1)
}

// proseFor returns the rest of a record's text, in lower case.
func (r *Record) proseFor(k Concept) string {
	parts := []string{r.Helps, r.Hurts, r.Unit, k.Summary, r.Subsystem}
	for _, c := range r.Cautions {
		parts = append(parts, c.Text)
	}
	return strings.ToLower(strings.Join(parts, " "))
}

// unknown returns the error for an unknown name, with the nearest names; a name without dots is
// compared with the last components.
func (c *Catalogue) unknown(os, name string) error {
	const few = 3
	all := c.Names(os)
	if !strings.Contains(name, ".") {
		leaves := list.Map(all, func(n string) string { return n[strings.LastIndexByte(n, '.')+1:] })
		var names []string
		for _, leaf := range hint.Nearest(name, leaves, few) {
			names = list.With(names, all[slices.Index(leaves, leaf)])
		}
		if len(names) > 0 {
			return hint.With(hint.Usagef("unknown tunable %q", name), "did you mean %s?", strings.Join(names, ", "))
		}
	}
	err := hint.Unknown("tunable", name, all)
	if hint.Of(err) != "" {
		return err
	}
	// The name may have an interface before its feature (eth0.gro), or be one of several words.
	part := name[strings.LastIndexAny(name, "./ ")+1:]
	names := list.Map(c.Search(os, part, few), func(m Match) string { return m.Record.Name })
	if len(names) == 0 {
		return hint.With(err, "words are looked for in names, summaries and ideas: linerate explain tcp send buffer")
	}
	return hint.With(err, "%q is in %s …", part, strings.Join(names, ", "))
}

// elsewhere returns the error for a name of another system, with this system's names for the same
// concept; nil if no system has it.
func (c *Catalogue) elsewhere(os, name string) error {
	for _, other := range []string{FreeBSD, Linux} {
		r, ok := c.Lookup(other, name)
		if !ok || other == os {
			continue
		}
		err := hint.Usage(fmt.Errorf("%s is a tunable of %s, not of %s", name, other, os))
		same := c.counterparts(r, os)
		if len(same) == 0 {
			return hint.With(err, "the catalogue knows nothing of %s with the same idea", os)
		}
		return hint.With(err, "%s has for the same idea: %s", os, strings.Join(same, ", "))
	}
	return nil
}

// counterparts returns a few names of a system for a record's concept: those with the same
// mechanism first, driver-specific and removed ones last.
func (c *Catalogue) counterparts(r *Record, os string) []string {
	const few = 6
	same := slices.DeleteFunc(slices.Clone(c.WithConcept(r.Concept)), func(x *Record) bool {
		return x.OS != os || r.Concept == ""
	})
	rank := func(x *Record) int {
		switch {
		case !x.Removed.IsZero():
			return 3
		case x.Driver != "":
			return 2
		case x.Mechanism != r.Mechanism:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(same, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(len(a.Name), len(b.Name)))
	})
	return list.Map(same[:min(few, len(same))], func(x *Record) string { return x.Name })
}
