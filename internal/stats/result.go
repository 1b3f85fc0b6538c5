package stats

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Result is the outcome of a comparison: the one record of an effect with its interval,
// p-values, n and verdict. Everything that stores or prints a comparison embeds it.
type Result struct {
	// N is how many complete blocks, or values of the smaller sample, the
	// comparison rests on.
	N int `json:"n"`
	Effect
	P       Number  `json:"p_value"`
	PHolm   Number  `json:"p_holm"` // corrected over the comparisons made together
	Verdict Verdict `json:"verdict"`
}

// Result is the comparison's outcome; what cannot be computed is unknown.
func (c *Comparison) Result() Result {
	return Result{N: c.N, Effect: c.reported(), P: Num(c.P), PHolm: Num(c.PHolm), Verdict: c.Verdict}
}

// EffectMembers are the members that an Effect has in JSON, for Document.
const EffectMembers = " effect_percent ci_low ci_high effect_points points_low points_high effect_adjusted "

var resultMembers = strings.Fields("n p_value p_holm verdict" + EffectMembers)

// Document encodes a struct that embeds a Result for a document whose members
// are older than Result and stay as they are: the members that order names
// stand in that order, where the first of them would. Of the Result's only
// those named are written.
func Document(v any, order string) ([]byte, error) {
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false) // whether to escape is the outer encoder's to say
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	members, err := membersOf(plain.Bytes())
	if err != nil {
		return nil, err
	}
	named, placed := strings.Fields(order), false
	var out []member
	for _, m := range members {
		switch first := slices.Contains(named, m.name) && !placed; {
		case first:
			out, placed = append(out, inOrder(members, named)...), true
		case !slices.Contains(named, m.name) && !slices.Contains(resultMembers, m.name):
			out = append(out, m)
		}
	}
	return written(out), nil
}

// member is a member of a JSON object.
type member struct {
	name string
	text json.RawMessage
}

// membersOf splits an object that was just encoded.
func membersOf(object []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out []member
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{}
		m.name, _ = name.(string)
		if err := dec.Decode(&m.text); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// inOrder picks the members named, without those that were left out.
func inOrder(members []member, names []string) []member {
	var out []member
	for _, name := range names {
		if i := slices.IndexFunc(members, func(m member) bool { return m.name == name }); i >= 0 {
			out = append(out, members[i])
		}
	}
	return out
}

func written(members []member) []byte {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), m.name...), '"', ':')
		b = append(b, m.text...)
	}
	return append(b, '}')
}
