package study

import "reflect"

// LimitsOf are a kind's limits among a study's; all zero where there are none of it.
func LimitsOf[T any](g Gates) *T {
	for _, own := range g.Own {
		if limits, ok := own.(*T); ok {
			return limits
		}
	}
	return new(T)
}

// DefaultGates are the limits of a study that states none.
func DefaultGates() Gates {
	var g Gates
	g.fill(func(string) bool { return false })
	return g
}

// fill puts defaults in the place of what the study does not say.
func (g *Gates) fill(said func(key string) bool) {
	given := *g
	*g = Gates{DriftPercent: 15, StealPercent: 2}
	keep := func(limits, given any) {
		to, from := reflect.ValueOf(limits).Elem(), reflect.ValueOf(given).Elem()
		for _, f := range keysIn(to.Type(), "yaml") {
			if said(keyOf(f, "yaml")) {
				to.FieldByName(f.Name).Set(from.FieldByName(f.Name))
			}
		}
	}
	keep(g, &given)
	seen := map[reflect.Type]bool{}
	for _, k := range kinds {
		limits := k.Limits()
		if t := reflect.TypeOf(limits); limits != nil && !seen[t] {
			seen[t] = true
			own := reflect.New(t.Elem()).Interface() // where a study's limits are all zero, or none
			for _, o := range given.Own {
				if reflect.TypeOf(o) == t {
					own = o
				}
			}
			keep(limits, own)
			g.Own = append(g.Own, limits)
		}
	}
}

// check wants percentages; what a kind knows better of its own, its CheckStudy says.
func (g *Gates) check() *Problem {
	for _, limits := range append([]any{g}, g.Own...) {
		v := reflect.ValueOf(limits).Elem()
		for _, f := range keysIn(v.Type(), "yaml") {
			if p := Within("gates."+keyOf(f, "yaml"), v.FieldByName(f.Name).Float(), 0, 100); p != nil {
				return p
			}
		}
	}
	return nil
}
