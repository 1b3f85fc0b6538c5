package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/declared"
	"linerate/internal/evidence"
	"linerate/internal/hint"
	"linerate/internal/lazy"
	"linerate/internal/list"
	"linerate/studies"
)

func newMCPCmd() *cobra.Command {
	return verb("mcp", cobra.ArbitraryArgs, func(cmd *cobra.Command, dirs []string) error {
		s, err := newModelServer(dirs)
		if err != nil {
			return err
		}
		if err := s.serve(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
			return fmt.Errorf("mcp: %w", err)
		}
		return nil
	})
}

// modelServer answers a model's requests by running linerate's verbs, one at a time.
type modelServer struct {
	roots []string
}

// newModelServer resolves the directories below which files may be read.
func newModelServer(dirs []string) (*modelServer, error) {
	s := &modelServer{}
	for _, d := range dirs {
		abs, err := filepath.Abs(d)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, hint.Usagef("mcp: %s is not a directory", d)
		}
		s.roots = append(s.roots, abs)
	}
	return s, nil
}

// given is a configuration with known properties of its host.
type given struct {
	Text    string `json:"text,omitempty" jsonschema:"the configuration itself: sysctl.conf, Talos, Kubernetes, Ansible, NixOS …"`
	Path    string `json:"path,omitempty" jsonschema:"a file or a directory below one that the server was given, instead of text"`
	Release string `json:"release,omitempty" jsonschema:"the kernel's or system's release, such as 6.12 or 14.3"`
	OS      string `json:"os,omitempty" jsonschema:"freebsd or linux"`
	Role    string `json:"role,omitempty" jsonschema:"what the host is for: web, router, firewall …"`
}

// about names a tunable on a release.
type about struct {
	Name    string `json:"name" jsonschema:"a tunable such as net.ipv4.tcp_rmem"`
	Value   string `json:"value,omitempty" jsonschema:"a value to check"`
	Release string `json:"release,omitempty" jsonschema:"the kernel's or system's release, such as 6.12 or 14.3"`
	OS      string `json:"os,omitempty" jsonschema:"freebsd or linux"`
}

// calculation names a calculator and its inputs.
type calculation struct {
	What   string            `json:"what,omitempty" jsonschema:"a calculator; without it they are listed"`
	Inputs map[string]string `json:"inputs,omitempty" jsonschema:"its inputs by name, with units: {link: 10Gb/s}"`
}

// named names a tunable or a built-in study.
type named struct {
	Name string `json:"name" jsonschema:"a tunable such as net.ipv4.tcp_rmem, or a built-in study"`
}

const modelInstructions = "Audit every setting before you propose it, and say what the findings and the evidence are. Nothing here changes a host."

// tools returns what a model may ask, sorted by name.
func (s *modelServer) tools() []modelTool {
	return []modelTool{
		tool("audit", "Find what is wrong, useless or harmful in settings, line by line, before they are proposed.", func(ctx context.Context, q given) (string, error) {
			return s.source(ctx, q, "audit", "--json")
		}),
		tool("calc", "Line rates, windows, buffers and table sizes, with sources.", s.calc),
		tool("evidence", "What measurements that ship with linerate say of a tunable.", func(_ context.Context, q named) (string, error) { return evidenceOf(q.Name) }),
		tool("explain", "What is known of one tunable: meaning, default by release, range, evidence, claims.", func(_ context.Context, q about) (string, error) { return explainTunable(q) }),
		tool("plan", "A plan of settings for a role, with reasons. It is a document; a person applies it, with a way back.", func(ctx context.Context, q given) (string, error) {
			return s.source(ctx, q, "plan", "--json", "--ledger=none")
		}),
		tool("study_list", "The built-in experiments.", func(ctx context.Context, _ struct{}) (string, error) {
			return s.ask(ctx, []string{"study", "list", "--json"}, "")
		}),
		tool("study_show", "One built-in experiment as YAML.", s.study),
	}
}

// askTime is the time limit of one answer.
const askTime = time.Minute

// ask runs a read-only verb of linerate, with text as its standard input.
func (s *modelServer) ask(ctx context.Context, args []string, text string) (answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var out, said bytes.Buffer
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(strings.NewReader(text))
	root.SetOut(&out)
	root.SetErr(&said)
	err = root.ExecuteContext(ctx)
	var exit hint.Exit
	if errors.As(err, &exit) {
		err = nil
	}
	if err != nil {
		return "", err
	}
	if out.Len() == 0 {
		return said.String(), nil
	}
	return out.String(), nil
}

// plainWord matches a safe argument: not an option, a host or a path.
var plainWord = lazy.Regexp(`^[A-Za-z0-9_][\w.*:+,%-]{0,199}$`)

// flagged appends the flags with non-empty values to args.
func flagged(args []string, flags ...string) ([]string, error) {
	for i := 0; i+1 < len(flags); i += 2 {
		if flags[i+1] == "" {
			continue
		}
		if !plainWord().MatchString(flags[i+1]) {
			return nil, fmt.Errorf("%s: %q is not a valid value", flags[i], flags[i+1])
		}
		args = append(args, "--"+flags[i]+"="+flags[i+1])
	}
	return args, nil
}

// source runs a verb on the given text, or on a path below an allowed directory.
func (s *modelServer) source(ctx context.Context, q given, verb ...string) (string, error) {
	args, err := flagged(verb, "release", q.Release, "os", q.OS, "role", q.Role)
	switch {
	case err != nil:
		return "", err
	case len(q.Text) > declared.MaxFile:
		return "", fmt.Errorf("a text of %d bytes; the limit is %d", len(q.Text), declared.MaxFile)
	case q.Path == "" && strings.TrimSpace(q.Text) == "":
		return "", errors.New("give a text, or a path below a directory that the server was given")
	case q.Path == "":
		return s.ask(ctx, append(args, "--", "-"), q.Text)
	}
	for _, root := range s.roots {
		at := q.Path
		if !filepath.IsAbs(at) {
			at = filepath.Join(root, at)
		}
		real, err := filepath.EvalSymlinks(at)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(root, real)
		info, statErr := os.Stat(real)
		if err == nil && statErr == nil && filepath.IsLocal(rel) && (info.IsDir() || info.Mode().IsRegular()) {
			return s.ask(ctx, append(args, "--", real), "")
		}
	}
	return "", fmt.Errorf("path: %q is not below a directory that the server was given", q.Path)
}

// explainTunable returns what the catalogue says of a tunable on a release; it does not read this
// machine.
func explainTunable(q about) (string, error) {
	c, err := catalogue.Load()
	if err != nil {
		return "", err
	}
	rel, err := releaseFlag(q.Release)
	if err != nil {
		return "", err
	}
	if q.OS == "" && !rel.IsZero() {
		q.OS = osOfRelease(rel)
	}
	r, err := c.Find(q.OS, q.Name)
	if err != nil {
		return "", err
	}
	p, err := pageOf(c, r, q.Name, rel, q.Value, nil)
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(p, "", "  ")
	return string(text), err
}

func (s *modelServer) calc(ctx context.Context, q calculation) (string, error) {
	if q.What == "" {
		return s.ask(ctx, []string{"calc", "--json"}, "")
	}
	if !plainWord().MatchString(q.What) {
		return "", fmt.Errorf("what: %q is not a calculator", q.What)
	}
	var inputs []string
	for name, value := range q.Inputs {
		inputs = append(inputs, name+"="+value)
	}
	slices.Sort(inputs)
	return s.ask(ctx, append([]string{"calc", "--json", "--", q.What}, inputs...), "")
}

func (s *modelServer) study(ctx context.Context, q named) (string, error) {
	if !slices.Contains(studies.Names(), q.Name) {
		return "", fmt.Errorf("name: %q is not a built-in study; study_list lists them", q.Name)
	}
	return s.ask(ctx, []string{"study", "show", "--", q.Name}, "")
}

// evidenceOf returns the built-in measurements of a setting.
func evidenceOf(name string) (string, error) {
	rows, err := catalogue.Evidence()
	if err != nil {
		return "", err
	}
	found := append([]evidence.Row{}, list.Filter(rows, func(r evidence.Row) bool { return r.Tunable == name })...)
	text, err := json.MarshalIndent(map[string]any{"name": name, "measured": found}, "", "  ")
	return string(text), err
}
