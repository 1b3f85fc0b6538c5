package apply

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/apply/record"
	"linerate/internal/fact"
	"linerate/internal/hint"
	"linerate/internal/knob"
	"linerate/internal/setting"
	"linerate/internal/show"
)

// Identity is what a host says of itself.
type Identity struct {
	OS      string `json:"os"`      // freebsd or linux
	Release string `json:"release"` // uname -r
	Host    string `json:"host"`    // uname -n
	UID     int    `json:"-"`       // who the scripts run as
	// Init is what starts things at boot: systemd, rc, sysv, openrc, none.
	Init string `json:"init"`
	// Management is the interface that the SSH session came in by; "" where
	// there is none, or sudo hides it.
	Management string `json:"management,omitempty"`
	// MachineID is by what the host is known whatever its name (fact.MachineIDOf); "" where
	// it tells none. Status asks for it.
	MachineID string `json:"machine_id,omitempty"`
	// Product is the appliance that the host is, in small letters; "" for none.
	Product string `json:"product,omitempty"`
	// NoBoot says that the host does not tell which boot it is: a switch could not know
	// that one came between.
	NoBoot bool `json:"-"`
	// Lacks is a program that a switch needs and the host has not; "" of none.
	Lacks string `json:"-"`
	// Live is the study under way on this host, if one is; root alone can tell.
	Live *LiveStudy `json:"live_study,omitempty"`
}

// Snapshot is a host's settings and files at one moment. A key that is not in
// Values, or a file that is not in Files, does not exist.
type Snapshot struct {
	Values map[knob.Key]string
	Files  map[string]FileNow
	// keys are those asked for, patterns expanded, in order.
	keys []knob.Key
	id   string
}

// FileNow is a file as it is.
type FileNow struct {
	Content string
	// Other is set for what is no regular file: a link, a directory.
	Other bool
}

// Status is what is pending on a host, and what became of what was confirmed.
type Status struct {
	Identity
	// State is "idle", "pending" or "reverting".
	State  string `json:"state"`
	ID     string `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Left is how many seconds are left to confirm.
	Left  int  `json:"left_s,omitempty"`
	Armed bool `json:"armed,omitempty"`
	// Busy says that it has no switch because somebody is applying it, or taking it
	// back, at this moment.
	Busy  bool `json:"busy,omitempty"`
	Ready bool `json:"ready,omitempty"`
	// NoCron says that once the switch and its guard are both killed, nothing but a boot and
	// linerate's next command takes the change back.
	NoCron bool `json:"no_cron,omitempty"`
	// History is every transaction, the oldest first.
	History []Past  `json:"history"`
	Drift   []Drift `json:"drift"`
	// NextBoot are files that a boot reads and that were written, or put back,
	// since: what they say runs from the next boot on, and not before.
	NextBoot []string `json:"next_boot,omitempty"`
	// Lost is a study that had this host since it booted, did not end, and has not been
	// heard of since its hold was over: -Left seconds ago.
	Lost *LiveStudy `json:"lost_study,omitempty"`
}

// LiveStudy is a switchback study that has a host.
type LiveStudy struct {
	Owner string `json:"owner"`
	// Left is for how many seconds it has the host, unless it goes on.
	Left  int    `json:"left_s"`
	About string `json:"about,omitempty"` // what is studied, from where
}

// Past is a transaction that is over.
type Past struct {
	ID string `json:"id"`
	// Outcome is "confirmed" or "reverted".
	Outcome string `json:"outcome"`
	Digest  string `json:"digest"`
	Why     string `json:"why,omitempty"`
	// When it was confirmed or taken back (RFC 3339); "" of an older agent's.
	When string `json:"when,omitempty"`
}

// Drift is what differs from what was confirmed.
type Drift = record.Drift

func parseIdentity(out []byte) (Identity, error) {
	id := Identity{UID: -1} // an answer without it is not taken for root
	texts := map[string]*string{"release": &id.Release, "host": &id.Host, "init": &id.Init, "session": &id.Management, "product": &id.Product, "lacks": &id.Lacks}
	for line := range strings.Lines(string(out)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if into := texts[word]; into != nil {
			*into = rest
		}
		switch word {
		case "os":
			id.OS = strings.ToLower(rest)
		case "uid":
			if n, err := strconv.Atoi(rest); err == nil {
				id.UID = n
			}
		case "boot":
			id.NoBoot = rest == "unknown"
		case "live":
			id.Live = liveStudy(rest)
		case "machine":
			if fact.IsMachineID(rest) {
				id.MachineID = rest
			}
		}
	}
	if id.OS == "" || id.Release == "" {
		return id, fmt.Errorf("the host did not identify itself: %.80q", out)
	}
	return id, nil
}

// parseSnapshot reads the lines that look and apply answer with.
func parseSnapshot(out []byte) (Snapshot, error) {
	s := Snapshot{Values: map[knob.Key]string{}, Files: map[string]FileNow{}}
	file := ""
	for line := range bytes.Lines(out) {
		text := strings.TrimSuffix(string(line), "\n")
		if content, ok := strings.CutPrefix(text, "|"); ok {
			f := s.Files[file]
			f.Content += content + "\n"
			s.Files[file] = f
			continue
		}
		words := strings.SplitN(text, " ", 5)
		switch {
		case text == "" || words[0] == "nofile":
		case words[0] == "id" && len(words) == 2:
			s.id = words[1]
		case words[0] == "file" && len(words) == 5: // with mode, owner and group
			file = words[1]
			s.Files[file] = FileNow{}
		case words[0] == "other" && len(words) == 2:
			s.Files[words[1]] = FileNow{Other: true}
		case words[0] == "value" && len(words) == 5:
			s.add(words)
		default:
			return s, fmt.Errorf("the host answers %.80q", text)
		}
	}
	return s, nil
}

func (s *Snapshot) add(words []string) {
	k := key(words[1], words[2], words[3])
	s.keys = append(s.keys, k)
	if v, ok := strings.CutPrefix(words[4], "="); ok {
		s.Values[k] = v
	}
}

func key(mechanism, device, name string) knob.Key {
	if device == "-" {
		device = ""
	}
	return knob.Key{Mechanism: setting.Mechanism(mechanism), Device: device, Name: name}
}

func parseStatus(out []byte) (Status, error) {
	st := Status{State: "idle", History: []Past{}, Drift: []Drift{}}
	var err error
	if st.Identity, err = parseIdentity(out); err != nil {
		return st, err
	}
	var drift record.Reader
	answers := map[string]*bool{"armed": &st.Armed, "busy": &st.Busy, "ready": &st.Ready}
	for line := range strings.Lines(string(out)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch word {
		case "state":
			st.State = rest
		case "id":
			st.ID = rest
		case "digest":
			st.Digest = rest
		case "left":
			st.Left, err = strconv.Atoi(rest)
		case "armed", "busy", "ready":
			*answers[word] = rest == "yes"
		case "no-cron":
			st.NoCron = true
		case "history":
			st.History = append(st.History, past(rest))
		case "when":
			id, when, _ := strings.Cut(rest, " ")
			if n := len(st.History); n > 0 && strings.HasPrefix(id, st.History[n-1].ID+".") {
				st.History[n-1].When = when
			}
		case "lost":
			if st.Live == nil { // its hold ended between the two questions
				st.Lost = liveStudy(rest)
			}
		case "next-boot":
			st.NextBoot = append(st.NextBoot, rest)
		default:
			drift.Line(word, rest)
		}
	}
	st.Drift = append(st.Drift, drift.Drift...)
	return st, errors.Join(err)
}

// liveStudy reads OWNER SECONDS WHAT; nil of what is none.
func liveStudy(rest string) *LiveStudy {
	f := strings.SplitN(rest, " ", 3)
	if len(f) < 2 {
		return nil
	}
	left, err := strconv.Atoi(f[1])
	if err != nil {
		return nil
	}
	return &LiveStudy{Owner: f[0], Left: left, About: strings.Join(f[2:], "")}
}

// Taken refuses a host that a live study has, in whichever of its windows.
func (id Identity) Taken() error {
	if id.Live == nil {
		return nil
	}
	return hint.With(fmt.Errorf("a live study has this host (%s): %s", show.Clean(id.Live.Owner), show.Clean(id.Live.About)), "linerate study stop ends it and puts the host back")
}

// Switchable refuses a host on which no dead-man's switch can be armed.
func (id Identity) Switchable() error {
	if id.Lacks != "" {
		return hint.With(fmt.Errorf("%s lacks %s(1), without which it can have no dead-man's switch", show.Clean(id.Host), show.Clean(id.Lacks)),
			"install util-linux there, or a busybox that has it")
	}
	if !id.NoBoot {
		return nil
	}
	from := "/proc/sys/kernel/random/boot_id"
	if id.OS == "freebsd" {
		from = "sysctl kern.boot_id"
	}
	return hint.With(fmt.Errorf("this host does not tell which boot it is (%s), so that its dead-man's switch could not know of a boot", from),
		"a container without it is changed from the machine that it runs on, or started so that it can read it")
}

func past(rest string) Past {
	var p Past
	id, rest, _ := strings.Cut(rest, " ")
	p.ID, p.Outcome, _ = strings.Cut(id, ".")
	p.Digest, p.Why, _ = strings.Cut(rest, " ")
	return p
}

// OfLiveStudy begins the digest of a live study's transactions, and AsIs is that of its
// windows in which the host is as it is: nothing is set, but the switch is armed.
const (
	OfLiveStudy = "live:"
	AsIs        = OfLiveStudy + "0000000000000000"
)

// OfLiveStudy reports a window of a live study.
func (p Past) OfLiveStudy() bool { return strings.HasPrefix(p.Digest, OfLiveStudy) }

// Current is the confirmed transaction in force, the last of the history that
// was not taken back.
func (st Status) Current() (Past, bool) {
	return st.last(func(p Past) bool { return p.Outcome == "confirmed" })
}

// last is the last transaction of the history that is so.
func (st Status) last(is func(Past) bool) (Past, bool) {
	for _, p := range slices.Backward(st.History) {
		if is(p) {
			return p, true
		}
	}
	return Past{}, false
}
