package plan

// Change is what differs between two plans in one setting.
type Change struct {
	// Setting is the setting's title.
	Setting string `json:"setting"`
	// Was and Is are its new values in the first and the second plan; nil
	// when that plan leaves it alone.
	Was *string `json:"was"`
	Is  *string `json:"is"`
	// WasWhere and IsWhere are where it goes, when that differs.
	WasWhere string `json:"was_where,omitempty"`
	IsWhere  string `json:"is_where,omitempty"`
}

// Diff lists what b sets otherwise than a: a's settings first, in its order,
// then those that only b has.
func Diff(a, b Plan) []Change {
	in := map[string]Step{}
	for _, s := range b.Settings {
		in[s.ID()] = s
	}
	var changes []Change
	for _, s := range a.Settings {
		other, ok := in[s.ID()]
		delete(in, s.ID())
		if !ok {
			changes = append(changes, Change{Setting: s.Title(), Was: &s.Value})
			continue
		}
		if c, differs := change(s, other); differs {
			changes = append(changes, c)
		}
	}
	for _, s := range b.Settings {
		if _, only := in[s.ID()]; only {
			changes = append(changes, Change{Setting: s.Title(), Is: &s.Value})
		}
	}
	return changes
}

func change(a, b Step) (Change, bool) {
	c := Change{Setting: a.Title(), Was: &a.Value, Is: &b.Value}
	if a.Where != b.Where {
		c.WasWhere, c.IsWhere = a.Where.String(), b.Where.String()
	}
	return c, a.Value != b.Value || a.Where != b.Where
}
