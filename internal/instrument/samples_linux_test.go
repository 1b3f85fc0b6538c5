package instrument

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"linerate/internal/profile"
)

const kallsyms = `ffffffff81000000 T _text
ffffffff81000100 t ip_forward
ffffffff81000200 D some_data
ffffffffc0000000 t nft_do_chain	[nf_tables]
`

func TestSymbols(t *testing.T) {
	s, err := readSymbols(strings.NewReader(kallsyms))
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[uint64]profile.Frame{
		0xffffffff81000000: {Name: "_text", Module: "kernel"},
		0xffffffff81000250: {Name: "ip_forward", Module: "kernel"},
		0xffffffffc0000010: {Name: "nft_do_chain", Module: "nf_tables"},
		0xffffffff00000000: {Name: "0xffffffff00000000"},
		0xffffffffd0000000: {Name: "0xffffffffd0000000"},
	} {
		if got := s.at(address); got != want {
			t.Errorf("%x is %+v, want %+v", address, got, want)
		}
	}
	if _, err := readSymbols(strings.NewReader("0000000000000000 T _text\n0000000000000000 t x\n")); err == nil {
		t.Error("hidden addresses were taken")
	}
}

// body is a sample as the kernel writes it.
func body(tid uint32, period uint64, chain ...uint64) []byte {
	b := binary.NativeEndian.AppendUint32(nil, 1)
	b = binary.NativeEndian.AppendUint32(b, tid)
	b = binary.NativeEndian.AppendUint64(b, period)
	b = binary.NativeEndian.AppendUint64(b, uint64(len(chain)))
	for _, a := range chain {
		b = binary.NativeEndian.AppendUint64(b, a)
	}
	return b
}

func TestRecords(t *testing.T) {
	names, err := readSymbols(strings.NewReader(kallsyms))
	if err != nil {
		t.Fatal(err)
	}
	kernelMark, userMark := ^uint64(127), contextUser
	r := &recording{b: profile.NewBuilder("e", "ns"), names: names, task: func(uint32) string { return "ksoftirqd/1" }}
	for _, rec := range []struct {
		kind uint32
		body []byte
	}{
		{recordSample, body(7, 10, kernelMark, 0xffffffffc0000004, 0xffffffff81000104, userMark, 0x4711)},
		{recordSample, body(7, 5, userMark, 0x4711)},
		{recordSample, body(7, 5)[:20]},
		{recordLost, append(make([]byte, 8), body(3, 0)[4:12]...)},
		{77, nil},
	} {
		if err := r.record(rec.kind, rec.body); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range r.b.Profile().Sample {
		line := ""
		for _, l := range slices.Backward(s.Location) {
			line += l.Line[0].Function.Name + ";"
		}
		got = append(got, fmt.Sprint(line, s.Value[0]))
	}
	if want := "[ksoftirqd/1;ip_forward;nft_do_chain;10 ksoftirqd/1;[user];5]"; fmt.Sprint(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r.lost != 3 {
		t.Errorf("%d lost, want 3", r.lost)
	}
}
