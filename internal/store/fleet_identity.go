package store

import (
	"strings"

	"linerate/internal/fleet"
)

// known finds the host of an observation: by name if the machine is the same, else by machine,
// whatever its name. done means that there is nothing to compare, because the sweep already has the
// name, or the host under another one. The observation of a clone gets its own identifier.
func (o *observing) known(seen *fleet.Observation) (h *fleet.Host, n int64, done bool) {
	byName, byNameN, sweep := o.hostBy("JOIN fleet_names m ON m.host = h.n WHERE m.name = ?", ", m.sweep", seen.Name)
	if byName != nil && sweep == o.sweep {
		return nil, 0, true
	}
	if byName != nil && (seen.Failure != "" || seen.ID == "" || strings.HasPrefix(byName.ID, seen.ID)) {
		return byName, byNameN, o.sameName(seen, byName, byNameN)
	}
	if seen.Failure != "" || seen.ID == "" {
		return nil, 0, false
	}
	h, n, last := o.hostBy("WHERE h.id = ?", lastSweep, seen.ID)
	if h != nil && last == o.sweep && h.Hostname != seen.Hostname { // a clone with the same machine-id
		seen.ID += "/" + seen.Name
		h, n, last = o.hostBy("WHERE h.id = ?", lastSweep, seen.ID)
	}
	if byName != nil && h == nil && strings.HasPrefix(byName.ID, fleet.ByName) {
		return byName, byNameN, false // its machine ID is now known
	}
	if byName != nil { // another machine has the name now; if it was the host's last one, the host is gone
		o.exec("DELETE FROM fleet_names WHERE name = ?", seen.Name)
		if value[int](o.work, "SELECT COUNT(*) FROM fleet_names WHERE host = ?", byNameN) == 0 {
			o.drop(byName, byNameN, fleet.Change{Time: seen.Time, Name: seen.Name, Kind: fleet.Gone, Cause: fleet.ByHost, Text: "another machine answers to " + seen.Name + " now"})
		}
	}
	if h != nil && last == o.sweep { // another name of the same host
		o.alias(seen, n)
		return nil, 0, true
	}
	return h, n, false
}

// lastSweep selects the last sweep of a host, under any name.
const lastSweep = ", (SELECT COALESCE(MAX(m.sweep), 0) FROM fleet_names m WHERE m.host = h.n)"

// sameName reports whether there is nothing to compare for a host that is known by this name: failure
// of one of its names does not matter if the sweep reached the host by another.
func (o *observing) sameName(seen *fleet.Observation, h *fleet.Host, n int64) (done bool) {
	if h.Name == seen.Name {
		return false
	}
	if _, _, last := o.hostBy("WHERE h.id = ?", lastSweep, h.ID); last != o.sweep {
		return false
	}
	o.alias(seen, n)
	return true
}

// alias records another name of a host that the sweep has.
func (o *observing) alias(seen *fleet.Observation, n int64) {
	o.tried(seen)
	o.name(seen.Name, n)
}

func (o *observing) tried(seen *fleet.Observation) {
	if seen.Failure == "" {
		o.reached++
	} else {
		o.unreachable++
	}
}

func (o *observing) name(name string, n int64) {
	o.exec(`INSERT INTO fleet_names (name, host, sweep) VALUES (?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET host = excluded.host, sweep = excluded.sweep`, name, n, o.sweep)
}

// drop removes a host; its recorded changes stay.
func (o *observing) drop(h *fleet.Host, n int64, why fleet.Change) {
	o.tally(h, o.findingsOf(n), -1)
	for _, query := range []string{"DELETE FROM fleet_host_findings WHERE host = ?", "DELETE FROM fleet_names WHERE host = ?", "DELETE FROM fleet_hosts WHERE n = ?"} {
		o.exec(query, n)
	}
	why.Host = h.ID
	o.add([]fleet.Change{why})
}
