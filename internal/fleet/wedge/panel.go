package wedge

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"linerate/internal/list"
)

// scatter describes hosts within strata, from the baselines: variances of logarithms.
type scatter struct {
	noise   float64 // of one period
	between float64 // between hosts
	trust   float64 // share of a host's baseline deviation that persists, 0 to 1
	df      float64
}

// panel holds the hosts that have every reading of some periods.
type panel struct {
	hosts  []Host
	values [][]float64 // of each host by period; higher is worse
	blocks [][]int     // hosts by stratum
}

func (t *Trial) panel(periods []Period) (p panel) {
	for i, h := range t.Hosts {
		row := list.Map(periods, func(p Period) float64 { return t.worse(p.Values[i].Float()) })
		if !slices.ContainsFunc(row, math.IsNaN) {
			p.hosts, p.values = append(p.hosts, h), append(p.values, row)
		}
	}
	p.blocks = blocks(len(p.hosts), func(i int) string { return p.hosts[i].Stratum })
	return p
}

// blocks groups units by a key, in the order of keys.
func blocks(n int, key func(int) string) (out [][]int) {
	by := map[string][]int{}
	for i := range n {
		by[key(i)] = append(by[key(i)], i)
	}
	return list.Map(slices.Sorted(maps.Keys(by)), func(k string) []int { return by[k] })
}

func (p *panel) scatter() (s scatter) {
	means, changes := make([][]float64, len(p.hosts)), make([][]float64, len(p.hosts))
	for i, v := range p.values {
		means[i], changes[i] = []float64{(v[0] + v[1]) / 2}, []float64{v[1] - v[0]}
	}
	s.df = float64(len(p.hosts) - len(p.blocks))
	centre(p.blocks, means)
	centre(p.blocks, changes)
	all := 0.0
	for i := range means {
		all += means[i][0] * means[i][0] / s.df
		s.noise += changes[i][0] * changes[i][0] / (2 * s.df)
	}
	s.between = max(0, all-s.noise/2)
	if all > 0 {
		s.trust = s.between / all
	}
	return s
}

// contrast returns the contrast of what hosts had in the columns, which are waves.
func (p *panel) contrast(columns []int, values func(host, column int) float64) *contrast {
	c := &contrast{blocks: p.blocks, on: func(slot, k int) bool { return slot <= columns[k] }}
	most := 0
	for i, h := range p.hosts {
		row := make([]float64, len(columns))
		for k := range row {
			row[k] = values(i, k)
		}
		c.slots, c.values = append(c.slots, h.Step()), append(c.values, row)
		most = max(most, h.Step()+1)
	}
	c.prepare(most)
	return c
}

// sham compares, in each wave, held-back hosts with an empty change to those without one.
func (p *panel) sham(columns []int, s scatter) *contrast {
	var held panel
	for i, h := range p.hosts {
		var sum, n float64
		for k, w := range columns {
			if h.Held && h.Wave == w {
				sum, n = sum+p.values[i][Baselines+k], n+1
			}
		}
		if n > 0 {
			held.hosts, held.values = append(held.hosts, h), append(held.values, []float64{sum/n - s.trust*(p.values[i][0]+p.values[i][1])/2})
		}
	}
	c := &contrast{values: held.values, on: func(slot, _ int) bool { return slot == 1 }}
	c.blocks = blocks(len(held.hosts), func(i int) string { return fmt.Sprint(held.hosts[i].Wave, held.hosts[i].Stratum) })
	c.slots = list.Map(held.hosts, func(h Host) int {
		if h.Sham {
			return 1
		}
		return 0
	})
	c.prepare(2)
	return c
}
