package netbenches

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/ledger"
)

// environment adds what the series' DUT was.
func (m *maker) environment(s *Series) ledger.ID {
	p := m.st.place
	e := ledger.Environment{
		OS: "FreeBSD", Hardware: p.Hardware, CPU: p.CPU, Cores: p.Cores, NIC: p.NIC,
		Label: "measured by others; logs only",
	}
	if s.Info != nil {
		u := ParseUname(s.Info.Uname)
		e.Release, e.Revision, e.Arch, e.Uname = u.Release, u.Revision, u.Arch, s.Info.Uname
		if u.OS != "" {
			e.OS = u.OS
		}
	}
	if e.Revision == "" {
		e.Revision = RevisionOf(p.Label)
	}
	if e.Release == "" {
		e.Release = releaseOf(p.Label)
	}
	if c := m.configs[s]; c != nil {
		e.Driver = c.Driver()
	}
	if e.Driver == "" {
		e.Driver = loadNames().driver(p.NIC)
	}
	e.Extra = m.topology()
	if s.Image != "" {
		e.Extra["image"] = s.Image
	}
	e.ID = ledger.IDOf("environment", e.OS, e.Release, e.Revision, e.Arch, e.Hardware, e.NIC, e.Driver, e.Uname, s.Image)
	if !slices.ContainsFunc(m.b.Environments, func(o ledger.Environment) bool { return o.ID == e.ID }) {
		m.b.Environments = append(m.b.Environments, e)
	}
	return e.ID
}

// topology is what the lab's file, at or above the study's folder, says of who
// sent and who received.
func (m *maker) topology() map[string]string {
	out := map[string]string{}
	for dir := m.st.dir; ; dir = path.Dir(dir) {
		if l := m.im.t.Labs[dir]; l != nil {
			out["nodes"] = strconv.Itoa(l.Nodes)
			for key, name := range map[string]string{"generator": "SENDER_ADMIN", "dut": "DUT_ADMIN", "generator_port": "SENDER_LAB_IF", "receiver_port": "RECEIVER_LAB_IF"} {
				if v := l.Values[name]; v != "" && !strings.Contains(v, "$") {
					out[key] = v
				}
			}
			return out
		}
		if dir == "." || dir == "/" {
			return out
		}
	}
}
