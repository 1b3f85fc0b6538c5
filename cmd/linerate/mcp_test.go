package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//nolint:misspell // the protocol's words
const mcpHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// converse sends messages one at a time, each after the answer to the previous one.
func converse(t *testing.T, s *modelServer, messages []string) []string {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	go func() { _ = s.serve(ctx, inR, outW) }()
	d := json.NewDecoder(outR)
	var answers []string
	for i, m := range append([]string{strings.TrimSpace(mcpHello)}, messages...) {
		if _, err := io.WriteString(inW, m+"\n"); err != nil {
			t.Fatal(err)
		}
		var answer map[string]any
		if err := d.Decode(&answer); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		text, _ := json.MarshalIndent(answer, "", " ")
		if len(text) > 500 && !bytes.Contains(text, []byte(`"tools"`)) {
			ids := regexp.MustCompile(`LR-[A-Z-]+:[\w.]+`).FindAll(text, -1)
			text = append(append(text[:500:500], "… "...), bytes.Join(ids, []byte(" "))...)
		}
		answers = append(answers, m+"\n"+string(text)+"\n")
	}
	return answers
}

// TestMCPTranscript compares a conversation with the golden transcript; -update rewrites that.
func TestMCPTranscript(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sysctl.conf"), []byte("net.ipv4.tcp_window_scaling=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := newModelServer([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	call := func(id int, tool, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
	}
	got := strings.Join(converse(t, s, []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		call(2, "audit", `{"text":"machine:\n  sysctls:\n    net.ipv4.tcp_tw_recycle: \"1\"\n","release":"6.12"}`),
		call(3, "audit", `{"path":"sysctl.conf","release":"6.12","os":"linux"}`),
		call(4, "audit", `{"path":"../../etc/passwd"}`),
		call(5, "explain", `{"name":"net.core.somaxconn","value":"128","release":"6.12"}`),
		call(6, "explain", `{"name":"no.such.name"}`),
		call(7, "plan", `{"text":"net.core.somaxconn=128\n","os":"linux","release":"6.12","role":"web"}`),
		call(8, "calc", `{"what":"line-rate","inputs":{"link":"10Gb/s","frame":"64"}}`),
		call(9, "evidence", `{"name":"net.core.somaxconn"}`),
		call(10, "study_show", `{"name":"/etc/passwd"}`),
		call(11, "apply", `{}`),
		`{"jsonrpc":"2.0","id":12,"method":"resources/read","params":{"uri":"linerate://tunable/linux/net.core.somaxconn"}}`,
	}), "")
	golden := "testdata/mcp.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// TestMCPClient: the protocol's own client finds tools, resources and their answers.
func TestMCPClient(t *testing.T) {
	s := &modelServer{}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() { _ = s.serve(t.Context(), inR, outW) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: outR, Writer: inW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != len(s.tools()) {
		t.Errorf("tools: %+v, %v", tools, err)
	}
	answer, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "calc", Arguments: map[string]any{"what": "bdp", "inputs": map[string]string{"link": "10Gb/s", "rtt": "80ms"}}})
	if text, _ := answer.Content[0].(*mcp.TextContent); err != nil || answer.IsError || !strings.Contains(text.Text, "100000000") {
		t.Errorf("calc: %+v, %v", answer, err)
	}
	wrong, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "calc", Arguments: map[string]any{"wat": "bdp"}})
	if err != nil || !wrong.IsError {
		t.Errorf("an unknown argument: %+v, %v", wrong, err)
	}
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("templates: %+v, %v", templates, err)
	}
	record, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "linerate://tunable/linux/net.core.somaxconn"})
	if err != nil || len(record.Contents) != 1 || !strings.Contains(record.Contents[0].Text, `"default": "4096"`) {
		t.Errorf("record: %+v, %v", record, err)
	}
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "linerate://tunable/linux/no.such.name"}); err == nil {
		t.Error("an unknown resource is read")
	}
}

// mutate damages a message, or splices part of another into it.
func mutate(r *rand.Rand, seeds []string, m string) string {
	b := []byte(m)
	for range 1 + r.IntN(4) {
		if len(b) < 2 {
			return string(b)
		}
		at := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b[at] ^= byte(1 << r.IntN(8))
		case 1:
			b = append(b[:at:at], b[min(len(b), at+1+r.IntN(9)):]...)
		case 2:
			o := seeds[r.IntN(len(seeds))]
			from := r.IntN(len(o))
			b = append(b[:at:at], append([]byte(o[from:min(len(o), from+12)]), b[at:]...)...)
		case 3:
			bad := []string{"../", "/etc/passwd", "--root=/", "ssh://h", "\\u0000", "-", "$(id)", "1e999", "null", "{}", "[[[["}
			b = append(b[:at:at], append([]byte(bad[r.IntN(len(bad))]), b[at:]...)...)
		case 4:
			b = bytes.Replace(b, []byte(`"`), []byte(``), 1)
		}
	}
	return strings.ReplaceAll(string(b), "\n", " ")
}

// shout sends one message in a new session, and returns everything that was answered.
func shout(t *testing.T, server *modelServer, m string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	go func() {
		_ = server.serve(ctx, inR, outW)
		outW.Close()
		inR.Close()
	}()
	go func() { _, _ = io.WriteString(inW, mcpHello+m+"\n") }()
	var asks map[string]any
	want := 1 // the answer to the first request
	if json.Unmarshal([]byte(m), &asks) == nil {
		_, number := asks["id"].(float64)
		_, word := asks["id"].(string)
		if method, ok := asks["method"].(string); ok && method != "" && (number || word) {
			want++
		}
	}
	var out strings.Builder
	lines := bufio.NewReader(outR)
	for range want {
		line, err := lines.ReadString('\n')
		out.WriteString(line)
		if err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		t.Errorf("no answer within a minute to %s", m)
	}
	inW.Close()
	outR.Close()
	return out.String()
}

// listing lists everything below directories, with sizes and times.
func listing(t *testing.T, dirs ...string) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil {
				info, _ := d.Info()
				fmt.Fprintln(&b, p, info.Size(), info.ModTime().UnixNano())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestMCPHostileClient: ten thousand damaged messages neither crash the server nor make it
// write a file or read one outside the given directory.
func TestMCPHostileClient(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	t.Chdir(t.TempDir())
	here, _ := os.Getwd()
	const canary = "net.canary.secret"
	if err := os.WriteFile(filepath.Join(outside, "sysctl.conf"), []byte(canary+"=1\nnet.ipv4.tcp_tw_recycle=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "sysctl.conf"), filepath.Join(inside, "link.conf")); err != nil {
		t.Fatal(err)
	}
	s, err := newModelServer([]string{inside})
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool, args string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args)
	}
	seeds := []string{
		call("audit", `{"path":"link.conf","os":"linux","release":"6.12"}`), call("audit", fmt.Sprintf(`{"path":%q}`, filepath.Join(outside, "sysctl.conf"))),
		call("audit", fmt.Sprintf(`{"path":"../%s/sysctl.conf","os":"linux"}`, filepath.Base(outside))), call("plan", `{"path":"link.conf","role":"web"}`),
		call("calc", `{"what":"bdp","inputs":{"link":"10Gb/s","rtt":"80ms"}}`), call("evidence", `{"name":"net.core.somaxconn"}`),
		call("study_show", fmt.Sprintf(`{"name":%q}`, filepath.Join(outside, "sysctl.conf"))), call("explain", `{"name":"net.core.somaxconn"}`),
		`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"linerate://tunable/linux/net.core.somaxconn"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`,
	}
	before := listing(t, outside, inside, here)
	r := rand.New(rand.NewPCG(1, 39))
	n := 10_000
	if testing.Short() {
		n = 500
	}
	answered := 0
	for i := range n {
		m := seeds[i%len(seeds)]
		if i >= len(seeds) {
			m = mutate(r, seeds, m)
		}
		out := shout(t, s, m)
		if strings.Contains(out, `"content"`) {
			answered++
		}
		if strings.Contains(out, canary) {
			t.Fatalf("message %d read a file outside the given directory: %s\n%s", i, m, out)
		}
	}
	if answered < n/40 {
		t.Errorf("only %d of %d messages reached a tool: the test covers too little", answered, n)
	}
	if d := cmp.Diff(before, listing(t, outside, inside, here)); d != "" {
		t.Error("something was written: ", d)
	}
}
