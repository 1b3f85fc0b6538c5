package responsive

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"

	"linerate/internal/port"
)

func aWay() way {
	from := port.Port{MAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, Peer: net.HardwareAddr{2, 0, 0, 0, 0, 2}, IPv4: netip.MustParsePrefix("198.18.0.1/16")}
	return way{from: from, to: port.Port{IPv4: netip.MustParsePrefix("198.18.255.254/16")}, source: proberOf(from)}
}

// TestChecksums: the sum over a valid packet is all ones (RFC 1071).
func TestChecksums(t *testing.T) {
	w := aWay()
	for name, b := range map[string][]byte{"echo": w.echo(7), "segment": w.segment(40000, 1<<31, 5, flagSYN)} {
		if s := sum(0, b[14:34]); s != 0xffff {
			t.Errorf("%s: the IP header sums up to %04x", name, s)
		}
		l4 := b[34:]
		pseudo := uint32(0)
		if name == "segment" {
			pseudo = uint32(sum(0, append(append([]byte{}, b[26:34]...), 0, protoTCP, 0, byte(len(l4)))))
		}
		if s := sum(pseudo, l4); s != 0xffff {
			t.Errorf("%s: it sums up to %04x", name, s)
		}
	}
}

// answerTo turns a probe into its answer, as the DUT does.
func answerTo(b []byte, change func(l4 []byte)) []byte {
	out := append([]byte{}, b...)
	copy(out[26:30], b[30:34])
	copy(out[30:34], b[26:30])
	change(out[34:])
	return out
}

func TestAnswers(t *testing.T) {
	w := aWay()
	echo := answerTo(w.echo(7), func(l4 []byte) { l4[0] = 0 })
	if a, ok := w.read(echo); !ok || !a.echo || a.n != 7 {
		t.Errorf("echo: %+v, %v", a, ok)
	}
	swap := func(l4 []byte) {
		copy(l4[0:2], []byte{greeterPort >> 8, greeterPort & 255})
		binary.BigEndian.PutUint16(l4[2:], 40000)
		l4[13] = flagSYN | flagACK
	}
	if a, ok := w.read(answerTo(w.segment(40000, 1, 0, flagSYN), swap)); !ok || a.n != 40000 || a.flags != flagSYN|flagACK || a.data != 0 {
		t.Errorf("segment: %+v, %v", a, ok)
	}
	if _, ok := w.read(w.echo(7)); ok {
		t.Error("a request was taken for an answer")
	}
}

func FuzzRead(f *testing.F) {
	w := aWay()
	f.Add(w.echo(1))
	f.Add(answerTo(w.segment(1, 2, 3, flagSYN), func([]byte) {}))
	f.Fuzz(func(_ *testing.T, b []byte) { w.read(b) })
}
