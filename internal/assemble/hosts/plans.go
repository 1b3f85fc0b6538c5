package hosts

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"linerate/internal/audit"
	"linerate/internal/evidence"
	"linerate/internal/fact"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/host/filehost"
	"linerate/internal/plan"
	"linerate/internal/role"
)

const (
	// indexName is the file in a directory of plans that makes it one.
	indexName = "index.jsonl"
	plansName = "plans"
	// maxIndexLine bounds a line of an index, in bytes.
	maxIndexLine = 4 << 20
)

// Plans makes a plan of every host of a list, in a directory.
type Plans struct {
	Pace
	Dir     string
	Targets []fleet.Target
	Remote  Remote
	// Resume goes on with a directory: hosts that have a plan in it are passed over.
	Resume bool
	// Role and Needs apply to hosts for which the list gives none.
	Role       string
	Needs      map[string]string
	Unmeasured bool
	Evidence   []evidence.Row
	Progress   func(Progress)
}

// Run plans the hosts that have no plan yet, and returns the results of all.
func (p *Plans) Run(ctx context.Context) ([]fleet.Planned, error) {
	in, err := Input()
	if err != nil {
		return nil, err
	}
	m := planMaker{Plans: p, in: in}
	if m.library, err = Advice(in.Catalogue); err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	done, err := p.begin()
	if err != nil {
		return nil, err
	}
	if m.index, err = os.OpenFile(filepath.Join(p.Dir, indexName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	defer m.index.Close()
	left := slices.DeleteFunc(slices.Clone(p.Targets), func(t fleet.Target) bool { return done[t.Name] })
	_, err = visits[fleet.Planned]{
		Pace: p.Pace, targets: left, do: captured(&p.Remote, m.examine), final: final, progress: p.Progress, lost: lostPlan, store: m.store,
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	return p.inOrder()
}

// inOrder writes the index anew: a line a host, in the order of the list, by which waves go.
func (p *Plans) inOrder() ([]fleet.Planned, error) {
	all, err := ReadPlans(p.Dir)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, t := range p.Targets {
		at[t.Name] = i - len(p.Targets) // before those of another list
	}
	slices.SortStableFunc(all, func(a, b fleet.Planned) int { return cmp.Compare(at[a.Name], at[b.Name]) })
	var b bytes.Buffer
	for _, h := range all {
		if err := json.NewEncoder(&b).Encode(h); err != nil {
			return nil, err
		}
	}
	return all, writeWhole(filepath.Join(p.Dir, indexName), b.Bytes())
}

// check refuses before anything is reached what the list says wrong.
func (p *Plans) check() error {
	for _, t := range p.Targets {
		_, err := plan.ParseNeeds(p.needs(&t))
		if t.Role != "" {
			err = errors.Join(role.Check(t.Role), err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// begin makes the directory, or finds what it has.
func (p *Plans) begin() (done map[string]bool, err error) {
	done = map[string]bool{}
	have, err := ReadPlans(p.Dir)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	case err == nil && !p.Resume:
		return nil, hint.With(hint.Usagef("%s holds plans of %d hosts already", p.Dir, len(have)), "%s continues it; or choose another directory", hint.Option("resume", ""))
	}
	for _, h := range have {
		done[h.Name] = h.Failure == "" && (h.File == "" || p.has(h))
	}
	if err := cutShort(filepath.Join(p.Dir, indexName)); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(p.Dir, plansName), 0o755); err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	return done, nil
}

// has reports whether the directory has a host's plan, also one that somebody changed since.
func (p *Plans) has(h fleet.Planned) bool {
	_, err := ReadPlan(p.Dir, h)
	return err == nil || errors.Is(err, plan.ErrDigest)
}

// cutShort drops a last line that was not written whole.
func cutShort(index string) error {
	text, err := os.ReadFile(index)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if whole := bytes.LastIndexByte(text, '\n') + 1; err == nil && whole < len(text) {
		err = os.Truncate(index, int64(whole))
	}
	return err
}

// needs are what the list says of a host, else what was given for all.
func (p *Plans) needs(t *fleet.Target) map[string]string {
	out := map[string]string{}
	for _, n := range fleet.Needs {
		if out[n] = t.Needs[n]; out[n] == "" {
			out[n] = p.Needs[n]
		}
	}
	return out
}

// planMaker makes plans of captures.
type planMaker struct {
	*Plans
	in      audit.Input
	library *plan.Library
	mu      sync.Mutex
	index   *os.File
}

func (m *planMaker) examine(ctx context.Context, t *fleet.Target, data []byte) (fleet.Planned, error) {
	out := fleet.Planned{Version: fleet.PlannedVersion, Time: time.Now().UTC(), Name: t.Name, Source: t.Source, Become: t.Become}
	a, err := filehost.Unpack(bytes.NewReader(data), t.Source)
	if err != nil {
		return out, err
	}
	f, err := factsOf(ctx, t, a)
	if err != nil {
		return out, err
	}
	p, err := m.plan(t, f)
	if err != nil {
		return out, unplannable{err}
	}
	doc, err := plan.Marshal(p)
	if err != nil {
		return out, unplannable{err}
	}
	out.Host, out.Hostname, out.OS, out.Release, out.Role = f.MachineID, f.Hostname, p.OS, p.Release, p.Role
	out.File, out.Digest, out.Changes, out.Unmet = plansName+"/"+fileName(t.Name), p.Digest, fleet.ChangesOf(p), p.Unmet
	return out, unplannableOf(writeWhole(filepath.Join(m.Dir, filepath.FromSlash(out.File)), doc))
}

// plan makes the plan of a host by what the list says of it.
func (m *planMaker) plan(t *fleet.Target, f *fact.Facts) (plan.Plan, error) {
	known := m.in
	known.Facts = f
	needs, err := plan.ParseNeeds(m.needs(t))
	if err != nil {
		return plan.Plan{}, err
	}
	if err := GiveRole(&known, cmp.Or(t.Role, m.Role), "given by the list of hosts"); err != nil {
		return plan.Plan{}, err
	}
	report, err := audit.Run(known)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Make(plan.Input{Facts: f, Catalogue: known.Catalogue, Library: m.library, Role: known.Role, Needs: needs, Findings: report.Findings, Judge: plan.By(known), Evidence: m.Evidence, Unmeasured: m.Unmeasured})
}

func lostPlan(t *fleet.Target, at time.Time, why error) fleet.Planned {
	return fleet.Planned{Version: fleet.PlannedVersion, Time: at.UTC(), Name: t.Name, Source: t.Source, Become: t.Become, Failure: why.Error(), Hint: hint.Of(why)}
}

// unplannable is an error that another look at the host does not mend.
type unplannable struct{ error }

func (u unplannable) Unwrap() error { return u.error }

func unplannableOf(err error) error {
	if err == nil {
		return nil
	}
	return unplannable{err}
}

// store adds lines to the index, and returns when they are on the disk; before them the
// names of their plans, which writeWhole wrote.
func (m *planMaker) store(_ context.Context, all []fleet.Planned) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b bytes.Buffer
	for _, p := range all {
		if err := json.NewEncoder(&b).Encode(p); err != nil {
			return err
		}
	}
	if err := onDisk(filepath.Join(m.Dir, plansName)); err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	if _, err := m.index.Write(b.Bytes()); err != nil {
		return fmt.Errorf("plans: %w", err)
	}
	return m.index.Sync()
}

// maxFileName bounds the name of a plan's file, without its end.
const maxFileName = 100

// fileName is a host's name as the name of a file: letters, digits, "-" and "." stay,
// others become _ and a digest, behind a _ in front, tells alike names apart.
func fileName(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, name)
	if plain != name || len(plain) > maxFileName || strings.HasPrefix(plain, ".") || strings.HasPrefix(plain, "_") {
		sum := sha256.Sum256([]byte(name))
		plain = "_" + strings.TrimLeft(plain[:min(len(plain), maxFileName)], ".") + "-" + hex.EncodeToString(sum[:4])
	}
	return plain + ".json"
}

// writeWhole writes a file whole or not at all, whatever ends the machine: its bytes are on
// the disk before it has its name.
func writeWhole(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// onDisk returns when the names in a directory are on the disk.
func onDisk(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// ReadPlans reads the index of a directory of plans: the last line of each host, in the order
// in which they came first. A line that was cut off at the end does not count.
func ReadPlans(dir string) ([]fleet.Planned, error) {
	f, err := os.Open(filepath.Join(dir, indexName))
	if err != nil {
		return nil, hint.With(fmt.Errorf("plans: %w", err), "linerate plan makes a directory of plans of a list of hosts")
	}
	defer f.Close()
	at := map[string]int{}
	var out []fleet.Planned
	r := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		line, err := boundedLine(r)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var p fleet.Planned
		if err == nil {
			err = json.Unmarshal(line, &p)
		}
		if err == nil && (p.Version != fleet.PlannedVersion || p.Name == "" || p.File != "" && !filepath.IsLocal(filepath.FromSlash(p.File)) || !IsRemote(p.Source)) {
			err = errors.New("no entry of an index of plans")
		}
		if err != nil {
			return nil, fmt.Errorf("plans: %s:%d: %w", f.Name(), n, err)
		}
		if i, ok := at[p.Name]; ok {
			out[i] = p
			continue
		}
		at[p.Name] = len(out)
		if out = append(out, p); len(out) > fleet.MaxHosts {
			return nil, fmt.Errorf("plans: %s names more than %d hosts", f.Name(), fleet.MaxHosts)
		}
	}
}

func boundedLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxIndexLine {
			return nil, errors.New("the line is too long")
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// ReadPlan reads the plan of one host of a directory.
func ReadPlan(dir string, p fleet.Planned) (plan.Plan, error) {
	path := filepath.Join(dir, filepath.FromSlash(p.File))
	doc, err := host.ReadFile(path, plan.MaxDocument)
	if err != nil {
		return plan.Plan{}, fmt.Errorf("read the plan: %w", err)
	}
	out, err := plan.Parse(doc)
	if err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
