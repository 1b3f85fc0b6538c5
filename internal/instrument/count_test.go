package instrument

import "testing"

func TestReadingSince(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now Reading
		want        float64
	}{
		{"all the time", Reading{100, 50, 50}, Reading{300, 150, 150}, 200},
		{"half the time", Reading{100, 50, 50}, Reading{300, 150, 100}, 400},
		{"earlier turns do not matter", Reading{100, 1000, 10}, Reading{300, 1100, 110}, 200},
		{"no turn", Reading{100, 50, 50}, Reading{100, 150, 50}, 0},
		{"no time", Reading{100, 50, 50}, Reading{100, 50, 50}, 0},
		{"another counter's", Reading{100, 50, 50}, Reading{10, 150, 150}, 0},
	} {
		if got := c.now.Since(c.before); got != c.want {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}
