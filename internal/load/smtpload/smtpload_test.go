package smtpload

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/load/client"
	"linerate/internal/load/request"
)

// mail is a test server that accepts what SMTP's grammar allows.
type mail struct {
	mu       sync.Mutex
	taken    []string
	sessions int
	// say, if set, answers in the server's place; "" gives the usual answer, "close" ends the session.
	say func(line string) string
}

func (m *mail) listen(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { m.serve(c) })
		}
	})
	return l.Addr().String()
}

func (m *mail) serve(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	m.mu.Lock()
	m.sessions++
	m.mu.Unlock()
	in := bufio.NewReader(c)
	fmt.Fprint(c, "220-hello\r\n220 mail\r\n")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		answer := ""
		if m.say != nil {
			answer = m.say(strings.TrimSpace(line))
		}
		switch verb := strings.ToUpper(strings.TrimSpace(line)); {
		case answer == "close":
			return
		case answer != "":
		case verb == "DATA":
			fmt.Fprint(c, "354 go on\r\n")
			answer = m.take(in)
		case verb == "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		case strings.HasPrefix(verb, "EHLO"):
			answer = "250-mail\r\n250 PIPELINING"
		default:
			answer = "250 ok"
		}
		fmt.Fprint(c, answer, "\r\n")
	}
}

func (m *mail) take(in *bufio.Reader) string {
	var b strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return "451 cut"
		}
		if line == ".\r\n" {
			break
		}
		b.WriteString(line)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken = append(m.taken, b.String())
	return "250 taken"
}

func spec(server string) Spec {
	return Spec{Server: netip.MustParseAddrPort(server), From: "a@example.org", To: "user%d@example.org", Accounts: 5, Sizes: []int{1000}, Sessions: 3, PerSession: 1,
		Load: client.Load{Arrivals: request.Constant, Requests: 30, Timeout: 5 * time.Second, Seed: 1}}
}

func offer(t *testing.T, s Spec) request.Result {
	t.Helper()
	a, m, err := Account(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return a.Result(m)
}

func TestMessagesArriveWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*Spec)
		sessions int
	}{
		"a session each": {func(*Spec) {}, 30},
		"ten a session":  {func(s *Spec) { s.Sessions, s.PerSession = 1, 10 }, 3},
		"one session":    {func(s *Spec) { s.Sessions, s.PerSession = 1, 0 }, 1},
		"an open loop":   {func(s *Spec) { s.Rate, s.PerSession = 2000, 1 }, 30},
	} {
		t.Run(name, func(t *testing.T) {
			m := &mail{}
			s := spec(m.listen(t))
			c.change(&s)
			r := offer(t, s)
			if r.Answered != 30 || r.Failed != 0 || len(m.taken) != 30 || r.Codes["250"] != 30 {
				t.Fatalf("answered %d, failed %d, taken %d: %+v", r.Answered, r.Failed, len(m.taken), r.Errors)
			}
			if m.sessions != c.sessions || r.Connections != uint64(c.sessions) {
				t.Errorf("%d sessions, %d counted, want %d", m.sessions, r.Connections, c.sessions)
			}
			ids, to := map[string]bool{}, map[string]bool{}
			for _, text := range m.taken {
				head, _, _ := strings.Cut(text, "\r\n\r\n")
				for line := range strings.SplitSeq(head, "\r\n") {
					ids[line] = ids[line] || strings.HasPrefix(line, "Message-ID")
					to[line] = to[line] || strings.HasPrefix(line, "To: <user")
				}
				if n := len(text); n < 900 || n > 1100 {
					t.Errorf("a message of %d bytes, want some 1000", n)
				}
			}
			if count(ids) != 30 || count(to) < 3 || count(to) > 5 {
				t.Errorf("%d ids and %d recipients", count(ids), count(to))
			}
			if r.BodyBytes != uint64(total(m.taken)) {
				t.Errorf("%d bytes counted, %d taken", r.BodyBytes, total(m.taken))
			}
		})
	}
}

func count(set map[string]bool) (n int) {
	for _, is := range set {
		if is {
			n++
		}
	}
	return n
}

func total(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

func TestFailuresHaveKinds(t *testing.T) {
	for want, say := range map[string]func(string) string{
		"status":    func(l string) string { return map[bool]string{true: "452 later"}[strings.HasPrefix(l, "RCPT")] },
		"closed":    func(l string) string { return map[bool]string{true: "close"}[strings.HasPrefix(l, "MAIL")] },
		"malformed": func(l string) string { return map[bool]string{true: "hello"}[strings.HasPrefix(l, "EHLO")] },
	} {
		m := &mail{say: say}
		s := spec(m.listen(t))
		s.Requests = 4
		r := offer(t, s)
		if r.Failed != 4 || len(r.Errors) != 1 || r.Errors[0].Kind != want {
			t.Errorf("%s: %d failed: %+v", want, r.Failed, r.Errors)
		}
		if want == "status" && r.Codes["452"] != 4 {
			t.Errorf("codes %v", r.Codes)
		}
	}
	m := &mail{say: func(l string) string {
		if l == "DATA" {
			time.Sleep(400 * time.Millisecond)
		}
		return ""
	}}
	s := spec(m.listen(t))
	s.Requests, s.Sessions, s.Timeout = 1, 1, 100*time.Millisecond
	if r := offer(t, s); r.Failed != 1 || r.Errors[0].Kind != "too_late" {
		t.Errorf("a slow server: %+v", r.Errors)
	}
}

// TestBodiesHaveTheirSize: bodies have the requested size, and no line that SMTP takes for the end.
func TestBodiesHaveTheirSize(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 77, 78, 79, 80, 1000, 10_000} {
		b := string(body(n))
		if d := len(b) - n; d < 0 || d > 2 {
			t.Errorf("a body of %d bytes has %d", n, len(b))
		}
		for line := range strings.SplitSeq(b, "\r\n") {
			if strings.HasPrefix(line, ".") || len(line) > lineLength {
				t.Errorf("line %q", line)
			}
		}
	}
}

// TestQueueIsWatched: depth, deferred messages, and the time to drain are recorded.
func TestQueueIsWatched(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"incoming", "active", "deferred/A"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"incoming/1", "incoming/2", "active/3", "deferred/A/4"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	q, err := WatchQueue(dir, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		labtest.Eventually(func() bool { // wait until the watch has seen it
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.seen.Waiting == 3
		})
		for _, f := range []string{"incoming/1", "incoming/2", "active/3"} {
			os.Remove(filepath.Join(dir, f))
		}
	}()
	got := q.Drain(t.Context(), labtest.Patience)
	if got.Peak != 3 || got.Deferred != 1 || got.Waiting != 0 || got.DrainSeconds <= 0 {
		t.Errorf("%+v", got)
	}
	if _, err := WatchQueue(t.TempDir(), time.Second); err == nil {
		t.Error("a directory that is not a queue is accepted")
	}
}

// TestEachAccountBeforeAnyAgain: a pass uses every account once, in an order that depends on the seed.
func TestEachAccountBeforeAnyAgain(t *testing.T) {
	orders := map[string]bool{}
	for _, n := range []int{1, 2, 5, 12, 1000} {
		for seed := range uint64(4) {
			r := &source{Spec: &Spec{Accounts: n, Load: client.Load{Seed: seed}}}
			r.recipients()
			for range 2 {
				seen := map[int]bool{}
				order := ""
				for range n {
					k := r.account()
					seen[k] = true
					order += fmt.Sprint(k, " ")
					if k < 1 || k > n {
						t.Fatalf("account %d of %d", k, n)
					}
				}
				if len(seen) != n {
					t.Errorf("%d of %d accounts have a message, seed %d", len(seen), n, seed)
				}
				if n == 12 {
					orders[order] = true
				}
			}
		}
	}
	if len(orders) < 2 {
		t.Error("all seeds give the same order")
	}
}

// TestANumberOfMessagesIsTheSame: of twenty messages of two sizes ten have each size, however the
// sessions share them.
func TestANumberOfMessagesIsTheSame(t *testing.T) {
	m := &mail{}
	s := spec(m.listen(t))
	s.Sizes, s.Requests, s.Sessions = []int{600, 3000}, 20, 7
	offer(t, s)
	small := 0
	for _, text := range m.taken {
		if len(text) < 1000 {
			small++
		}
	}
	if small != 10 || len(m.taken) != 20 {
		t.Errorf("%d of %d are small", small, len(m.taken))
	}
}

// TestAQueueOfEmptyDirectoriesIsEmpty: Postfix leaves empty directories in hashed queues.
func TestAQueueOfEmptyDirectoriesIsEmpty(t *testing.T) {
	dir := t.TempDir()
	q := &Queue{dir: dir}
	for _, d := range []string{"incoming/A", "incoming/B", "active", "deferred"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !q.empty() {
		t.Error("empty directories are counted as messages")
	}
	for _, f := range []string{"incoming/B/1", "active/2"} {
		name := filepath.Join(dir, f)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if q.empty() {
			t.Errorf("message %s is not counted", f)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
