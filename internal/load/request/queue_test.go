package request

import "testing"

func TestQueuesOfTurns(t *testing.T) {
	var none *Queue
	sum := none.Plus(&Queue{Peak: 12, Deferred: 1, Waiting: 4, DrainSeconds: 2}).Plus(&Queue{Peak: 9, Deferred: 2, DrainSeconds: 3})
	if *sum != (Queue{Peak: 12, Deferred: 2, DrainSeconds: 5}) {
		t.Errorf("%+v", sum)
	}
	m := Meter{}.Plus(Meter{Queue: sum}).Plus(Meter{})
	if m.Queue == nil || *m.Queue != *sum {
		t.Errorf("a meter's queue is %+v", m.Queue)
	}
}
