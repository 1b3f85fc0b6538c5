package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"linerate/catalogue"
	"linerate/internal/assemble/hosts"
	"linerate/internal/cli"
	"linerate/internal/declared"
	"linerate/internal/hint"
	"linerate/internal/tunable/explain"
	"linerate/studies"
)

func newMCPCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "mcp [DIR …]",
		Short: "let a language model ask: audit, explain, plan, calc, evidence, studies",
		Long: `MCP serves the Model Context Protocol on standard input and output. Its tools only
read: texts that the client sends, files below DIR, and what linerate knows. None
changes a host; a plan is a document that a person applies.`,
		Example: `    linerate mcp
    linerate mcp ~/src/my-cluster`,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			s, err := newModelServer(dirs)
			if err != nil {
				return err
			}
			// The reader is closed with the session, as a pipe's end is.
			in, out := readCloser{cmd.InOrStdin()}, writeCloser{cmd.OutOrStdout()}
			err = s.server().Run(cmd.Context(), &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: 4 * declared.MaxFile})
			if errors.Is(err, context.Canceled) || err == nil {
				return nil
			}
			return fmt.Errorf("mcp: %w", err)
		},
	}
}

// modelServer answers a model's questions by linerate's own verbs, one at a time.
type modelServer struct {
	roots []string
	mu    sync.Mutex
}

// newModelServer checks the directories below which files may be read.
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
			return nil, hint.Usagef("mcp: %s is no directory", d)
		}
		s.roots = append(s.roots, abs)
	}
	return s, nil
}

// question is what a tool is asked; every tool takes some of it.
type question struct {
	Text    string            `json:"text"`
	Path    string            `json:"path"`
	Name    string            `json:"name"`
	Value   string            `json:"value"`
	Release string            `json:"release"`
	OS      string            `json:"os"`
	Role    string            `json:"role"`
	What    string            `json:"what"`
	Inputs  map[string]string `json:"inputs"`
}

// modelTool is one tool: its keys, those that are required first, and the verb that answers.
type modelTool struct {
	name, about string
	required    int
	keys        []string
	args        func(*modelServer, question) ([]string, error)
}

// keysAbout says what the keys of a question are.
var keysAbout = map[string]string{
	"text": "the configuration itself: sysctl.conf, Talos, Kubernetes, Ansible, NixOS …", "path": "a file or a directory below one that the server was given, instead of text",
	"name": "a tunable such as net.ipv4.tcp_rmem, or a built-in study", "value": "a value to check", "release": "the kernel's or system's release, such as 6.12 or 14.3",
	"os": "freebsd or linux", "role": "what the host is for: web, router, firewall …", "what": "a calculator; without it they are listed", "inputs": "its inputs by name, with units: {link: 10Gb/s}",
}

var modelTools = []modelTool{
	{"audit", "Find what is wrong, useless or harmful in settings, line by line, before they are proposed.", 0, []string{"text", "path", "release", "os", "role"}, (*modelServer).audit},
	{"explain", "What is known of one tunable: meaning, default by release, range, evidence, claims.", 1, []string{"name", "value", "release", "os"}, nil},
	{"plan", "A plan of settings for a role, with reasons. It is a document; a person applies it, with a way back.", 0, []string{"text", "path", "role", "release", "os"}, (*modelServer).plan},
	{"calc", "Line rates, windows, buffers and table sizes, with sources.", 0, []string{"what", "inputs"}, (*modelServer).calc},
	{"evidence", "What measurements that ship with linerate say of a tunable.", 1, []string{"name"}, nil},
	{"study_list", "The built-in experiments.", 0, nil, func(*modelServer, question) ([]string, error) { return []string{"study", "list", "--json"}, nil }},
	{"study_show", "One built-in experiment as YAML.", 1, []string{"name"}, (*modelServer).study},
}

// server has the tools and the catalogue's records as resources.
func (s *modelServer) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "linerate", Version: cli.Version()}, &mcp.ServerOptions{
		Instructions: "Audit every setting before you propose it, and say what the findings and the evidence are. Nothing here changes a host."})
	no := false
	for _, t := range modelTools {
		server.AddTool(&mcp.Tool{Name: t.name, Description: t.about, InputSchema: t.schema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, OpenWorldHint: &no, IdempotentHint: true}},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				text, err := s.answer(ctx, t, req.Params.Arguments)
				if err != nil {
					text = err.Error()
				}
				return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
			})
	}
	server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "tunable", URITemplate: "linerate://tunable/{os}/{name}", MIMEType: "application/json",
		Description: "The catalogue's record of a tunable, with its sources."},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			os, name, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, "linerate://tunable/"), "/")
			text, err := explainTunable(question{OS: os, Name: name})
			if err != nil {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "application/json", Text: text}}}, nil
		})
	return server
}

// schema is that of the tool's keys.
func (t modelTool) schema() map[string]any {
	properties := map[string]any{}
	for _, k := range t.keys {
		p := map[string]any{"type": "string", "description": keysAbout[k]}
		if k == "inputs" {
			p = map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}, "description": keysAbout[k]}
		}
		properties[k] = p
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if t.required > 0 {
		schema["required"] = t.keys[:t.required]
	}
	return schema
}

// answer runs a tool.
func (s *modelServer) answer(ctx context.Context, t modelTool, arguments []byte) (string, error) {
	var q question
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.DisallowUnknownFields()
	if len(arguments) > 0 {
		if err := d.Decode(&q); err != nil {
			return "", fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if len(q.Text) > declared.MaxFile {
		return "", fmt.Errorf("%s: a text of %d bytes; the limit is %d", t.name, len(q.Text), declared.MaxFile)
	}
	switch t.name {
	case "evidence":
		return evidenceOf(q.Name)
	case "explain":
		return explainTunable(q)
	}
	args, err := t.args(s, q)
	if err != nil {
		return "", err
	}
	return s.ask(ctx, args, q.Text)
}

// askTime bounds one answer.
const askTime = time.Minute

// ask runs a verb of linerate that only reads, with a text as its standard input.
func (s *modelServer) ask(ctx context.Context, args []string, text string) (answer string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		if h := hint.Render(err, cli.AsFlag); h != "" {
			err = fmt.Errorf("%w\nhint: %s", err, h)
		}
		return "", err
	}
	if out.Len() == 0 {
		return said.String(), nil
	}
	return out.String(), nil
}

// plainWord is what may be an argument: no option, no host, no path.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_][\w.*:+,%-]{0,199}$`)

// flagged adds the flags that a question has.
func flagged(args []string, flags ...string) ([]string, error) {
	for i := 0; i+1 < len(flags); i += 2 {
		if flags[i+1] == "" {
			continue
		}
		if !plainWord.MatchString(flags[i+1]) {
			return nil, fmt.Errorf("%s: %q is not a word that it can be", flags[i], flags[i+1])
		}
		args = append(args, "--"+flags[i]+"="+flags[i+1])
	}
	return args, nil
}

func (s *modelServer) audit(q question) ([]string, error) {
	args, err := flagged([]string{"audit", "--json"}, "release", q.Release, "os", q.OS, "role", q.Role)
	return s.source(args, err, q)
}

func (s *modelServer) plan(q question) ([]string, error) {
	args, err := flagged([]string{"plan", "--json", "--ledger=none"}, "release", q.Release, "os", q.OS, "role", q.Role)
	return s.source(args, err, q)
}

// source adds the text, or a path below the directories given.
func (s *modelServer) source(args []string, err error, q question) ([]string, error) {
	switch {
	case err != nil:
		return nil, err
	case q.Path == "" && strings.TrimSpace(q.Text) == "":
		return nil, errors.New("give a text, or a path below a directory that the server was given")
	case q.Path == "":
		return append(args, "--", "-"), nil
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
			return append(args, "--", real), nil
		}
	}
	return nil, fmt.Errorf("path: %q is not below a directory that the server was given", q.Path)
}

// explainTunable is what the catalogue says of a tunable on any machine of a release: this
// one is not asked.
func explainTunable(q question) (string, error) {
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
	r, err := findTunable(c, q.OS, q.Name)
	if err != nil {
		return "", err
	}
	p := explain.Of(c, r, q.Name, rel)
	if q.Value != "" {
		p.Judge(r, rel, q.Value)
		if p.Value.Findings, err = hosts.OfValue(nil, r, rel, q.Name, q.Value); err != nil {
			return "", err
		}
	}
	text, err := json.MarshalIndent(p, "", "  ")
	return string(text), err
}

func (s *modelServer) calc(q question) ([]string, error) {
	args := []string{"calc", "--json"}
	if q.What == "" {
		return args, nil
	}
	if !plainWord.MatchString(q.What) {
		return nil, fmt.Errorf("what: %q is no calculator", q.What)
	}
	args = append(args, "--", q.What)
	for name, value := range q.Inputs {
		args = append(args, name+"="+value)
	}
	slices.Sort(args[4:])
	return args, nil
}

func (s *modelServer) study(q question) ([]string, error) {
	if !slices.Contains(studies.Names(), q.Name) {
		return nil, fmt.Errorf("name: %q is no built-in study; study_list has them", q.Name)
	}
	return []string{"study", "show", "--", q.Name}, nil
}

// evidenceOf are the measurements that ship with linerate of what a name sets.
func evidenceOf(name string) (string, error) {
	rows, err := catalogue.Evidence()
	if err != nil {
		return "", err
	}
	found := []any{}
	for _, r := range rows {
		if r.Tunable == name {
			found = append(found, r)
		}
	}
	text, err := json.MarshalIndent(map[string]any{"name": name, "measured": found}, "", "  ")
	return string(text), err
}

// readCloser and writeCloser leave the process's own streams open.
type readCloser struct {
	r interface{ Read([]byte) (int, error) }
}

func (c readCloser) Read(b []byte) (int, error) { return c.r.Read(b) }
func (readCloser) Close() error                 { return nil }

type writeCloser struct {
	w interface{ Write([]byte) (int, error) }
}

func (c writeCloser) Write(b []byte) (int, error) { return c.w.Write(b) }
func (writeCloser) Close() error                  { return nil }
