package hosts

import (
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
	"time"

	"github.com/google/renameio/v2"

	"linerate/internal/fact"
	"linerate/internal/fleet"
	"linerate/internal/hint"
	"linerate/internal/host"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/internal/plan"
)

const (
	// indexName is the file that makes a directory one of plans.
	indexName = "index.jsonl"
	plansName = "plans"
	maxIndex  = 1 << 30 // bytes
)

// Plans makes a plan for every host of a list, in a directory.
type Plans struct {
	Pace
	Dir     string
	Targets []fleet.Target
	Remote  Remote
	// Resume continues in an existing directory: hosts with a plan are skipped.
	Resume bool
	// Role and Needs are for hosts for which the list has none.
	Role     string
	Needs    map[string]string
	Planner  *Planner
	Progress func(Progress)
}

// Run makes plans for the hosts that have none, and returns the results of all.
func (p *Plans) Run(ctx context.Context) ([]fleet.Planned, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	done, err := p.begin()
	if err != nil {
		return nil, err
	}
	index, err := os.OpenFile(filepath.Join(p.Dir, indexName), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	defer index.Close()
	left := slices.DeleteFunc(slices.Clone(p.Targets), func(t fleet.Target) bool { return done[t.Name] })
	_, err = visits[fleet.Planned]{
		Pace: p.Pace, targets: left, do: captured(&p.Remote, p.examine), final: final, progress: p.Progress, lost: lostPlan,
		store: func(_ context.Context, all []fleet.Planned) error { return addTo(index, all) },
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	return p.inOrder()
}

// inOrder rewrites the index: a line per host, in the order of the list, in which waves proceed.
func (p *Plans) inOrder() ([]fleet.Planned, error) {
	all, err := ReadPlans(p.Dir)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, t := range p.Targets {
		at[t.Name] = i - len(p.Targets) // before hosts of other lists
	}
	list.Sort(all, func(a, b fleet.Planned) int { return cmp.Compare(at[a.Name], at[b.Name]) })
	return all, p.rewrite(all)
}

// rewrite rewrites the index.
func (p *Plans) rewrite(all []fleet.Planned) error {
	var b bytes.Buffer
	if err := addTo(&b, all); err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(p.Dir, indexName), b.Bytes(), 0o644)
}

// addTo writes lines of an index in one write.
func addTo(w io.Writer, all []fleet.Planned) error {
	var b bytes.Buffer
	for _, h := range all {
		if err := json.NewEncoder(&b).Encode(h); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// check validates the list before any host is contacted.
func (p *Plans) check() error {
	for _, t := range p.Targets {
		_, err := plan.ParseNeeds(p.needs(&t))
		if err = errors.Join(CheckRole(t.Role), err); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return nil
}

// begin creates the directory, or returns the hosts that it already has.
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
	if err := os.MkdirAll(filepath.Join(p.Dir, plansName), 0o755); err != nil {
		return nil, fmt.Errorf("plans: %w", err)
	}
	return done, p.rewrite(have) // drops a truncated last line
}

// has reports whether the directory has a host's plan, even one changed since.
func (p *Plans) has(h fleet.Planned) bool {
	_, err := ReadPlan(p.Dir, h)
	return err == nil || errors.Is(err, plan.ErrDigest)
}

// needs returns the needs of a host in the list, else those given for all.
func (p *Plans) needs(t *fleet.Target) map[string]string {
	out := map[string]string{}
	for _, n := range fleet.Needs {
		if out[n] = t.Needs[n]; out[n] == "" {
			out[n] = p.Needs[n]
		}
	}
	return out
}

func (p *Plans) examine(ctx context.Context, t *fleet.Target, data []byte) (fleet.Planned, error) {
	out := plannedOf(t, time.Now())
	f, _, err := factsOf(ctx, t, data)
	if err != nil {
		return out, err
	}
	made, doc, err := p.plan(t, f)
	if err != nil {
		return out, unplannable{err}
	}
	out.Host, out.Hostname, out.OS, out.Release, out.Role = f.MachineID, f.Hostname, made.OS, made.Release, made.Role
	out.Hardware, out.Site = cmp.Or(f.CPU.Model, f.Machine), t.Site
	out.File, out.Digest, out.Changes, out.Unmet = plansName+"/"+fileName(t.Name), made.Digest, fleet.ChangesOf(made), made.Unmet
	return out, unplannableOf(renameio.WriteFile(filepath.Join(p.Dir, filepath.FromSlash(out.File)), doc, 0o644))
}

// plan makes the plan of a host according to the list.
func (p *Plans) plan(t *fleet.Target, f *fact.Facts) (made plan.Plan, doc []byte, err error) {
	needs, err := plan.ParseNeeds(p.needs(t))
	if err != nil {
		return made, nil, err
	}
	in, err := p.Planner.Input(f, cmp.Or(t.Role, p.Role), "given by the list of hosts", needs)
	if err != nil {
		return made, nil, err
	}
	if made, err = plan.Make(in); err == nil {
		doc, err = plan.Marshal(made)
	}
	return made, doc, err
}

// plannedOf returns the initial entry of a host.
func plannedOf(t *fleet.Target, at time.Time) fleet.Planned {
	return fleet.Planned{Version: fleet.PlannedVersion, Time: at.UTC(), Name: t.Name, Source: t.Source, Become: t.Become}
}

func lostPlan(t *fleet.Target, at time.Time, why error) fleet.Planned {
	p := plannedOf(t, at)
	p.Failure, p.Hint = why.Error(), hint.Of(why)
	return p
}

// unplannable is an error that retrying cannot fix.
type unplannable struct{ error }

func (u unplannable) Unwrap() error { return u.error }

func unplannableOf(err error) error {
	if err == nil {
		return nil
	}
	return unplannable{err}
}

// maxFileName is the maximum length of a plan's file name, without the suffix.
const maxFileName = 100

var unusual = lazy.Regexp(`[^A-Za-z0-9.-]`)

// fileName turns a host's name into a file name: letters, digits, "-" and "." stay, other
// characters become _, and then a _ in front and a digest at the end keep similar names apart.
func fileName(name string) string {
	plain := unusual().ReplaceAllString(name, "_")
	if plain != name || len(plain) > maxFileName || strings.HasPrefix(plain, ".") || strings.HasPrefix(plain, "_") {
		sum := sha256.Sum256([]byte(name))
		plain = "_" + strings.TrimLeft(plain[:min(len(plain), maxFileName)], ".") + "-" + hex.EncodeToString(sum[:4])
	}
	return plain + ".json"
}

// ReadPlans reads the index of a directory of plans: the last line of each host, in order of first
// appearance. It ignores a truncated last line.
func ReadPlans(dir string) (out []fleet.Planned, err error) {
	index := filepath.Join(dir, indexName)
	text, err := host.ReadFile(index, maxIndex)
	if err != nil {
		return nil, hint.With(fmt.Errorf("plans: %w", err), "linerate plan makes a directory of plans of a list of hosts")
	}
	at, n := map[string]int{}, 0
	for line := range bytes.Lines(text) {
		if n++; !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var p fleet.Planned
		err := json.Unmarshal(line, &p)
		if err == nil && (p.Version != fleet.PlannedVersion || p.Name == "" || p.File != "" && !filepath.IsLocal(filepath.FromSlash(p.File)) || !IsRemote(p.Source)) {
			err = errors.New("not an entry of an index of plans")
		}
		if err != nil {
			return nil, fmt.Errorf("plans: %s:%d: %w", index, n, err)
		}
		if i, ok := at[p.Name]; ok {
			out[i] = p
			continue
		}
		at[p.Name] = len(out)
		if out = append(out, p); len(out) > fleet.MaxHosts {
			return nil, fmt.Errorf("plans: %s names more than %d hosts", index, fleet.MaxHosts)
		}
	}
	return out, nil
}

// ReadPlan reads the plan of one host from a directory.
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
