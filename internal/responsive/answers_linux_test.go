package responsive

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

// TestFloodsFrames: every random segment has valid checksums and a foreign source address, and
// segments differ only in source, port and sequence number.
func TestFloodsFrames(t *testing.T) {
	w := aWay()
	w.source = strangers.Addr()
	f := synFrame(w)
	first := append([]byte{}, f.next(0)...)
	r := rand.New(rand.NewPCG(1, 2))
	sources := map[byte]bool{}
	for range 2000 {
		b := f.next(r.Uint64())
		if len(b) != 60 {
			t.Fatalf("%d bytes", len(b))
		}
		if s := sum(0, b[14:34]); s != 0xffff {
			t.Fatalf("the IP header sums up to %04x: % x", s, b)
		}
		pseudo := uint32(sum(0, append(append([]byte{}, b[26:34]...), 0, protoTCP, 0, 20)))
		if s := sum(pseudo, b[34:54]); s != 0xffff {
			t.Fatalf("the segment sums up to %04x: % x", s, b)
		}
		if b[26] != 203 || b[27] != 0 || b[28] != 113 || binary.BigEndian.Uint16(b[34:]) < 1024 || b[47] != flagSYN {
			t.Fatalf("% x", b)
		}
		sources[b[29]] = true
		for i := range b {
			changes := i == 29 || i == 24 || i == 25 || i >= 34 && i < 36 || i >= 38 && i < 42 || i == 50 || i == 51
			if !changes && b[i] != first[i] {
				t.Fatalf("byte %d is %02x, was %02x", i, b[i], first[i])
			}
		}
	}
	if len(sources) < 250 {
		t.Errorf("%d strangers", len(sources))
	}
}

// TestCountsFirstAnswers: an answer counts once, for the probe that asked, with its delay;
// unsolicited answers do not count.
func TestCountsFirstAnswers(t *testing.T) {
	p := &Probe{way: aWay(), sock: -1, greet: -1, sent: map[key]time.Time{}}
	begun := time.Now()
	port := clientPort(3)
	p.sent[key{kindEcho, 3}], p.sent[key{kindConnect, port}], p.sent[key{kindGreeting, port}] = begun, begun, begun
	at := func(d time.Duration) time.Time { return begun.Round(0).Add(d) }
	p.answered(answer{echo: true, n: 3}, at(2*time.Millisecond))
	p.answered(answer{echo: true, n: 3}, at(5*time.Millisecond))
	p.answered(answer{echo: true, n: 4}, at(5*time.Millisecond))
	p.answered(answer{n: port, flags: flagACK}, at(time.Millisecond)) // says nothing
	p.answered(answer{n: port, flags: flagSYN | flagACK}, at(3*time.Millisecond))
	p.answered(answer{n: port + 1, flags: flagSYN | flagACK}, at(3*time.Millisecond))
	p.answered(answer{n: port, flags: flagACK | 0x08 /* PSH */, data: 5}, at(-time.Second)) // a clock that was put back
	m, err := p.Account()
	if err != nil || m.Echo.Answered != 1 || m.Connect.Answered != 1 || m.Greeting.Answered != 1 || len(p.sent) != 0 {
		t.Fatalf("%+v, %d wait, %v", m, len(p.sent), err)
	}
	if m.Echo.RTT.Max != 2_000_000 || m.Connect.RTT.Max != 3_000_000 || m.Greeting.RTT.Max != 0 {
		t.Errorf("%+v %+v %+v", m.Echo.RTT, m.Connect.RTT, m.Greeting.RTT)
	}
	if clientPort(1) < 1024 || clientPort(most-1) < clientPort(1) {
		t.Errorf("ports %d to %d", clientPort(1), clientPort(most-1))
	}
}

// TestHalfAnswers: frames that are truncated, of another protocol or for another host are not
// answers.
func TestHalfAnswers(t *testing.T) {
	w := aWay()
	echo := answerTo(w.echo(7), func(l4 []byte) { l4[0] = 0 })
	if _, ok := w.read(echo); !ok {
		t.Fatal("no answer")
	}
	for n := range len(echo) {
		if _, ok := w.read(echo[:n]); ok {
			t.Errorf("%d bytes of %d are an answer", n, len(echo))
		}
	}
	for name, change := range map[string]func(b []byte){
		"IPv6": func(b []byte) { b[12], b[13] = 0x86, 0xdd }, "version 5": func(b []byte) { b[14] = 0x55 }, "a header of 16 bytes": func(b []byte) { b[14] = 0x44 }, "a header beyond its end": func(b []byte) { b[14] = 0x4f },
		"for somebody else": func(b []byte) { b[33]++ }, "UDP": func(b []byte) { b[23] = 17 }, "another prober's": func(b []byte) { b[38]++ }, "longer than it is": func(b []byte) { b[17] += 9 },
	} {
		b := append([]byte{}, echo...)
		change(b)
		if a, ok := w.read(b); ok {
			t.Errorf("%s: %+v", name, a)
		}
	}
}
