package main

import "testing"

// What smtp-sink 3.7 writes with -c, each count over the one before.
const sinkOutput = "sess=1 quit=0 mesg=0\rsess=1 quit=0 mesg=1\rsess=1 quit=1 mesg=1\rsess=858 quit=848 mesg=854\r"

func TestSinksLastCountCounts(t *testing.T) {
	if n, err := lastCount([]byte(sinkOutput)); err != nil || n != 854 {
		t.Errorf("%v, %v", n, err)
	}
	for _, text := range []string{"", "smtp-sink: fatal: bind", "sess=858 quit="} {
		if n, err := lastCount([]byte(text)); err == nil {
			t.Errorf("%q counts %v", text, n)
		}
	}
}

func TestPostalsAddressHasAPort(t *testing.T) {
	if got := postalAddress("127.0.0.1:2599"); got != "[127.0.0.1]2599" {
		t.Error(got)
	}
}
