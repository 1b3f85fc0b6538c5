package responsive

import (
	"context"
	"testing"
	"time"

	"linerate/internal/labtest"
	"linerate/internal/setting"
	"linerate/internal/study"
	"linerate/internal/testbed"
	"linerate/internal/testbed/netnsbed"
)

// TestAsksTheDUT: an idle DUT answers everything; one that drops probes of one kind answers the
// others.
func TestAsksTheDUT(t *testing.T) {
	labtest.Program(t, "nft")
	labtest.Namespaces(t)
	b, err := netnsbed.Up(context.Background(), netnsbed.Options{Mode: testbed.Overload})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	input := func(rule string) []setting.Setting {
		text := "table ip m {\n chain input { type filter hook input priority filter; " + rule + " drop; }\n}\n"
		return []setting.Setting{{Mechanism: setting.NFT, Rules: &setting.Rules{Text: text}}}
	}
	for name, c := range map[string]struct {
		settings                []setting.Setting
		echo, connect, greeting bool
	}{
		"at rest":          {nil, true, true, true},
		"no echo":          {input("icmp type echo-request"), false, true, true},
		"no connections":   {input("tcp dport 2222"), true, false, false},
		"no data nor acks": {input("tcp dport 2222 tcp flags & (syn | ack) == ack"), true, true, false},
	} {
		if _, err := b.Reset(context.Background(), c.settings); err != nil {
			t.Fatal(err)
		}
		var m study.Management
		for during := 200 * time.Millisecond; ; during *= 2 {
			m = asked(t, b, during)
			if during > 10*time.Second || heard(m.Echo) == c.echo && heard(m.Connect) == c.connect && heard(m.Greeting) == c.greeting {
				break // a busy machine asks little, and late
			}
		}
		answers(t, name, m, c.echo, c.connect, c.greeting)
	}
}

// answers compares the results of probing with what the DUT answers.
func answers(t *testing.T, name string, m study.Management, echo, connect, greeting bool) {
	for kind, x := range map[string]struct {
		got  study.Answers
		want bool
	}{"echo": {m.Echo, echo}, "connect": {m.Connect, connect}, "greeting": {m.Greeting, greeting}} {
		if x.got.Sent == 0 || heard(x.got) != x.want || x.got.Answered > 0 && (!x.want || x.got.RTT == nil || x.got.RTT.Min == 0) {
			t.Errorf("%s: %s: %d of %d answered, %+v", name, kind, x.got.Answered, x.got.Sent, x.got.RTT)
		}
	}
}

// heard reports whether most probes were answered: the answers to the last ones may still be on
// their way.
func heard(a study.Answers) bool { return a.Sent > 0 && a.Unanswered() <= 0.2 }

// asked probes a bed's DUT for a while.
func asked(t *testing.T, b *netnsbed.Bed, during time.Duration) study.Management {
	t.Helper()
	p, err := Local{}.Open(b.DUT().Generator, b.DUT().Inside, b.Describe().CPUs.DUT)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.Start()
	time.Sleep(during)
	p.Stop()
	m, err := p.Account()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
