package space

import (
	"fmt"
	"slices"

	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/tunable"
)

// forbid removes levels that violate the catalogue's couplings, so that every
// configuration in the space is allowed: levels that conflict with the present value
// of another setting and, of two factors with conflicting levels, the later one.
func forbid(q Query, env tunable.Env, all []Entry) error {
	for _, r := range q.Catalogue.Records {
		if r.OS != q.Facts.OS {
			continue
		}
		for _, k := range r.Coupled {
			if k.Holds == "" || env.Unknown(k.Holds) {
				continue
			}
			if err := forbidPair(env, entryOf(all, r.Name), entryOf(all, k.Name), r.Name, k); err != nil {
				return fmt.Errorf("%s:%d: %s: coupled with %s: %w", r.File, r.Line, r.Name, k.Name, err)
			}
		}
	}
	return nil
}

// forbidPair applies one coupling; its sides are nil if they are not in the space.
func forbidPair(env tunable.Env, this, other *Entry, name string, k tunable.Coupling) (err error) {
	agree := func(a, b string) bool {
		if a == "" || b == "" {
			return true
		}
		ok, e := env.With(a, b).Holds(k.Holds)
		if e != nil {
			err = e
		}
		return ok
	}
	nowThis, nowOther := env.Text(name), env.Text(k.Name)
	this.keep(func(v string) bool { return agree(v, nowOther) }, "no level agrees with "+k.Name+"="+nowOther)
	other.keep(func(v string) bool { return agree(nowThis, v) }, "no level agrees with "+name+"="+nowThis)
	if err != nil || !this.in() || !other.in() {
		return err
	}
	for _, a := range this.Levels {
		if i := slices.IndexFunc(other.Levels, func(b Level) bool { return !agree(a.Value, b.Value) }); i >= 0 {
			other.In, other.Why = false, fmt.Sprintf("%s does not agree with %s=%s, which is in the space", other.Levels[i].Value, name, a.Value)
			return err
		}
	}
	return err
}

// oneBoot keeps either the factors that boot another image or those in files read at boot,
// whichever comes first in the space: a search would combine them, and one boot cannot do both.
func oneBoot(all []Entry) {
	var image, files string
	for i := range all {
		e := &all[i]
		if !e.In {
			continue
		}
		boots, reads := e.has(setting.Image), e.has(setting.Files, setting.Loader, setting.RC)
		switch {
		case boots && files != "":
			e.In, e.Why = false, "one boot tries an image or what it reads of files, and "+files+" is in the space"
		case reads && image != "":
			e.In, e.Why = false, "one boot tries an image or what it reads of files, and "+image+" is in the space"
		case boots:
			image = e.Name
		case reads:
			files = e.Name
		}
	}
}

// has reports whether any level uses one of these mechanisms.
func (e *Entry) has(by ...setting.Mechanism) bool {
	return slices.ContainsFunc(e.Levels, func(l Level) bool {
		return slices.ContainsFunc(l.Settings, func(s study.Setting) bool { return slices.Contains(by, s.Setting().Mechanism) })
	})
}

func entryOf(all []Entry, name string) *Entry {
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// in reports whether the entry exists and is in the space.
func (e *Entry) in() bool { return e != nil && e.In }

// keep removes levels that may not stay; an entry without levels leaves the space, with the reason.
func (e *Entry) keep(may func(string) bool, why string) {
	if !e.in() {
		return
	}
	e.Levels = slices.DeleteFunc(e.Levels, func(l Level) bool { return !may(l.Value) })
	if len(e.Levels) == 0 {
		e.In, e.Why = false, why
	}
}
