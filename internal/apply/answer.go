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

// Identity is how a host identifies itself.
type Identity struct {
	OS      string `json:"os"`      // freebsd or linux
	Release string `json:"release"` // uname -r
	Host    string `json:"host"`    // uname -n
	UID     int    `json:"-"`       // user ID of the scripts
	// Init is the init system: systemd, rc, sysv, openrc, none.
	Init string `json:"init"`
	// Management is the interface of the SSH session; "" if there is none, or sudo hides it.
	Management string `json:"management,omitempty"`
	// MachineID identifies the host independently of its name (fact.MachineIDOf); "" if unknown.
	// Status queries it.
	MachineID string `json:"machine_id,omitempty"`
	// Product is the appliance in lower case; "" if it is none.
	Product string `json:"product,omitempty"`
	// NoBoot means that the host has no boot ID: a switch could not detect a reboot.
	NoBoot bool `json:"-"`
	// Lacks names a program that the switch needs but the host lacks; "" if none.
	Lacks string `json:"-"`
	// Live is the study running on this host, if any; only root can tell.
	Live *LiveStudy `json:"live_study,omitempty"`
}

// Snapshot is the state of a host's settings and files. A key missing in Values, or a file missing
// in Files, does not exist.
type Snapshot struct {
	Values map[knob.Key]string
	Files  map[string]FileNow
	// keys are those requested, with patterns expanded, in order.
	keys []knob.Key
	id   string
}

// FileNow is the current state of a file.
type FileNow struct {
	Content string
	// Other is set if it is not a regular file: a link, a directory.
	Other bool
}

// Status is the pending change of a host, and the state of confirmed ones.
type Status struct {
	Identity
	// State is "idle", "pending" or "reverting".
	State  string `json:"state"`
	ID     string `json:"id,omitempty"`
	Digest string `json:"digest,omitempty"`
	// Left is the remaining time to confirm, in seconds.
	Left  int  `json:"left_s,omitempty"`
	Armed bool `json:"armed,omitempty"`
	// Busy means that there is no switch yet because the change is being applied or reverted at
	// this moment.
	Busy  bool `json:"busy,omitempty"`
	Ready bool `json:"ready,omitempty"`
	// NoCron means that if the switch and its guard are both killed, only a boot or linerate's next
	// command reverts the change.
	NoCron bool `json:"no_cron,omitempty"`
	// History lists all transactions, oldest first.
	History []Past  `json:"history"`
	Drift   []Drift `json:"drift"`
	// NextBoot lists files read at boot that were written or restored since the last one: they take
	// effect at the next boot.
	NextBoot []string `json:"next_boot,omitempty"`
	// Lost is a study that held this host in the current boot, did not end, and has not been heard
	// of since its hold expired -Left seconds ago.
	Lost *LiveStudy `json:"lost_study,omitempty"`
}

// LiveStudy is a switchback study that holds a host.
type LiveStudy struct {
	Owner string `json:"owner"`
	// Left is how long it holds the host unless extended, in seconds.
	Left  int    `json:"left_s"`
	About string `json:"about,omitempty"` // what is studied, and from where
}

// Past is a completed transaction.
type Past struct {
	ID string `json:"id"`
	// Outcome is "confirmed" or "reverted".
	Outcome string `json:"outcome"`
	Digest  string `json:"digest"`
	Why     string `json:"why,omitempty"`
	// When is the time of confirmation or reversion (RFC 3339); "" from older agents.
	When string `json:"when,omitempty"`
}

// Drift is a difference from a confirmed state.
type Drift = record.Drift

func parseIdentity(out []byte) (Identity, error) {
	id := Identity{UID: -1} // without an answer do not assume root
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

// parseSnapshot parses the answers of look and apply.
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
		case words[0] == "file" && len(words) == 5: // includes mode, owner and group
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
			if st.Live == nil { // its hold expired between the two queries
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

// liveStudy parses OWNER SECONDS WHAT; nil if malformed.
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

// Taken returns an error if a live study holds the host, in any window.
func (id Identity) Taken() error {
	if id.Live == nil {
		return nil
	}
	return hint.With(fmt.Errorf("a live study has this host (%s): %s", show.Clean(id.Live.Owner), show.Clean(id.Live.About)), "linerate study stop ends it and puts the host back")
}

// Switchable returns an error if no dead-man's switch can be armed on the host.
func (id Identity) Switchable() error {
	if id.Lacks != "" {
		return hint.With(fmt.Errorf("%s lacks %s(1), which the dead-man's switch needs", show.Clean(id.Host), show.Clean(id.Lacks)),
			"install util-linux there, or a busybox that has it")
	}
	if !id.NoBoot {
		return nil
	}
	from := "/proc/sys/kernel/random/boot_id"
	if id.OS == "freebsd" {
		from = "sysctl kern.boot_id"
	}
	return hint.With(fmt.Errorf("this host has no boot identifier (%s), so its dead-man's switch could not notice a reboot", from),
		"a container without it is changed from the machine that it runs on, or started so that it can read it")
}

func past(rest string) Past {
	var p Past
	id, rest, _ := strings.Cut(rest, " ")
	p.ID, p.Outcome, _ = strings.Cut(id, ".")
	p.Digest, p.Why, _ = strings.Cut(rest, " ")
	return p
}

// OfLiveStudy is the digest prefix of a live study's transactions, AsIs the digest of windows that
// leave the host unchanged: nothing is set, but the switch is armed.
const (
	OfLiveStudy = "live:"
	AsIs        = OfLiveStudy + "0000000000000000"
)

// OfLiveStudy reports whether the transaction is a window of a live study.
func (p Past) OfLiveStudy() bool { return strings.HasPrefix(p.Digest, OfLiveStudy) }

// Current returns the confirmed transaction in force: the last one in the history that was not
// rolled back.
func (st Status) Current() (Past, bool) {
	return st.last(func(p Past) bool { return p.Outcome == "confirmed" })
}

// last returns the last transaction of the history for which is returns true.
func (st Status) last(is func(Past) bool) (Past, bool) {
	for _, p := range slices.Backward(st.History) {
		if is(p) {
			return p, true
		}
	}
	return Past{}, false
}
