package request

import "testing"

func TestQueuesOfTurns(t *testing.T) {
	var a Queue
	for i := range 5 * maxDepths {
		a.Add(Depth{Seconds: float64(i), Incoming: i % 7, Active: 1})
	}
	if a.Peak != 7 || len(a.Samples) >= maxDepths || a.Samples[len(a.Samples)-1].Seconds != 5*maxDepths-1 {
		t.Errorf("peak %d, %d samples, the last %+v", a.Peak, len(a.Samples), a.Samples[len(a.Samples)-1])
	}
	var none *Queue
	sum := none.Plus(&a).Plus(&Queue{Samples: []Depth{{Seconds: 1, Active: 9}}, Peak: 9, Deferred: 2, DrainSeconds: 3})
	if sum.Peak != 9 || sum.Deferred != 2 || sum.Waiting != 0 || sum.DrainSeconds != 3 {
		t.Errorf("%+v", sum)
	}
	if sum = sum.Plus(&Queue{Samples: []Depth{{Seconds: 1}}, Peak: 12}); sum.Peak != 12 {
		t.Errorf("peak %d of 12 whose sample went", sum.Peak)
	}
}

func TestSamplesKnowTheirLoad(t *testing.T) {
	var sum *Queue
	for range 3 {
		sum = sum.Plus(&Queue{Samples: []Depth{{Seconds: 0.1}, {Seconds: 0.2, Active: 1}}})
	}
	for i, d := range sum.Samples {
		if d.Load != i/2 {
			t.Errorf("sample %d is of load %d", i, d.Load)
		}
	}
	m := Meter{}.Plus(Meter{Queue: sum}).Plus(Meter{})
	if m.Queue == nil || len(m.Queue.Samples) != 6 {
		t.Errorf("a meter's queue is %+v", m.Queue)
	}
}
