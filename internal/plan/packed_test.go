package plan

import (
	"reflect"
	"testing"

	"linerate/internal/sharedtest"
)

// TestPackedAdviceIsTheAdvice: packed and unpacked advice is the same, in the same order.
func TestPackedAdviceIsTheAdvice(t *testing.T) {
	want, err := Load(sharedtest.Catalogue())
	if err != nil {
		t.Fatal(err)
	}
	b, err := Pack(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(b)
	if err != nil || len(got.Advice) != len(want.Advice) || !reflect.DeepEqual(got.Answers, want.Answers) {
		t.Fatalf("%v: %+v", err, got)
	}
	for i, a := range got.Advice {
		if !reflect.DeepEqual(a, want.Advice[i]) {
			t.Errorf("%+v\nwant %+v", a, want.Advice[i])
		}
	}
	for _, bad := range [][]byte{nil, b[:8], b[:len(b)-1], append([]byte{b[0] ^ 1}, b[1:]...)} {
		if _, err := Unpack(bad); err == nil {
			t.Errorf("%d bytes that are not advice are accepted", len(bad))
		}
	}
}

// BenchmarkAdvice reads the advice as files and packed.
func BenchmarkAdvice(b *testing.B) {
	l, err := Load(sharedtest.Catalogue())
	if err != nil {
		b.Fatal(err)
	}
	packed, err := Pack(l)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("files", func(b *testing.B) {
		for b.Loop() {
			if _, err := Load(sharedtest.Catalogue()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("packed", func(b *testing.B) {
		for b.Loop() {
			if _, err := Unpack(packed); err != nil {
				b.Fatal(err)
			}
		}
	})
}
