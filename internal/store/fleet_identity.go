package store

import (
	"strings"

	"linerate/internal/fleet"
)

// known finds the host of an observation: by name if the machine is the same, else by machine,
// whatever its name. done means that there is nothing to compare, because the sweep already has the
// name, or the host under another one. The observation of a clone gets its own identifier.
func (o *observing) known(seen *fleet.Observation) (h *fleet.Host, n int64, done bool, err error) {
	var sweep, last int64
	byName, byNameN, err := o.hostBy("JOIN fleet_names m ON m.host = h.n WHERE m.name = ?", ", m.sweep", &sweep, seen.Name)
	if err != nil || byName != nil && sweep == o.sweep {
		return nil, 0, true, err
	}
	if byName != nil && (seen.Failure != "" || seen.ID == "" || strings.HasPrefix(byName.ID, seen.ID)) {
		return o.sameName(seen, byName, byNameN)
	}
	if seen.Failure != "" || seen.ID == "" {
		return nil, 0, false, nil
	}
	h, n, err = o.hostBy("WHERE h.id = ?", lastSweep, &last, seen.ID)
	if err == nil && h != nil && last == o.sweep && h.Hostname != seen.Hostname { // a clone with the same machine-id
		seen.ID += "/" + seen.Name
		h, n, err = o.hostBy("WHERE h.id = ?", lastSweep, &last, seen.ID)
	}
	if err != nil {
		return nil, 0, false, err
	}
	if byName != nil && h == nil && strings.HasPrefix(byName.ID, fleet.ByName) {
		return byName, byNameN, false, nil // its machine ID is now known
	}
	if byName != nil {
		if err := o.leave(seen, byName, byNameN); err != nil {
			return nil, 0, false, err
		}
	}
	if h != nil && last == o.sweep { // another name of the same host
		return nil, 0, true, o.alias(seen, n)
	}
	return h, n, false, nil
}

// lastSweep selects the last sweep of a host, under any name.
const lastSweep = ", (SELECT COALESCE(MAX(m.sweep), 0) FROM fleet_names m WHERE m.host = h.n)"

// sameName returns a host under an unchanged name. Failure of one of its names does not matter if
// the sweep reached the host by another.
func (o *observing) sameName(seen *fleet.Observation, h *fleet.Host, n int64) (*fleet.Host, int64, bool, error) {
	if h.Name == seen.Name {
		return h, n, false, nil
	}
	var last int64
	if _, _, err := o.hostBy("WHERE h.id = ?", lastSweep, &last, h.ID); err != nil {
		return nil, 0, false, err
	}
	if last == o.sweep {
		return nil, 0, true, o.alias(seen, n)
	}
	return h, n, false, nil
}

// alias records another name of a host that the sweep has.
func (o *observing) alias(seen *fleet.Observation, n int64) error {
	o.tried(seen)
	return o.name(seen.Name, n)
}

func (o *observing) tried(seen *fleet.Observation) {
	if seen.Failure == "" {
		o.reached++
	} else {
		o.unreachable++
	}
}

func (o *observing) name(name string, n int64) error {
	return o.exec(`INSERT INTO fleet_names (name, host, sweep) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET host = excluded.host, sweep = excluded.sweep`, name, n, o.sweep)
}

// leave removes a name from a host, because another machine has it now, and drops the host if it
// was its last name.
func (o *observing) leave(seen *fleet.Observation, h *fleet.Host, n int64) error {
	if err := o.exec("DELETE FROM fleet_names WHERE name = ?", seen.Name); err != nil {
		return err
	}
	var others int
	if err := o.row("SELECT COUNT(*) FROM fleet_names WHERE host = ?", n).Scan(&others); err != nil || others > 0 {
		return err
	}
	return o.drop(h, n, fleet.Change{Time: seen.Time, Name: seen.Name, Kind: fleet.Gone, Cause: fleet.ByHost, Text: "another machine answers to " + seen.Name + " now"})
}

// drop removes a host; its recorded changes stay.
func (o *observing) drop(h *fleet.Host, n int64, why fleet.Change) error {
	findings, err := o.s.findingsOf(o.ctx, o.tx, n)
	if err != nil {
		return err
	}
	o.tally(h, findings, -1)
	for _, query := range []string{"DELETE FROM fleet_host_findings WHERE host = ?", "DELETE FROM fleet_names WHERE host = ?", "DELETE FROM fleet_hosts WHERE n = ?"} {
		if err := o.exec(query, n); err != nil {
			return err
		}
	}
	why.Host = h.ID
	return o.add([]fleet.Change{why})
}
