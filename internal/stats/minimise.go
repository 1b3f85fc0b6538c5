package stats

import (
	"cmp"
	"math"
	"slices"
)

// pair is a place in the plane.
type pair [2]float64

// towards is the place that lies scale times as far from p as p does from q.
func (p pair) towards(scale float64, q pair) pair {
	return pair{(p[0]-q[0])*scale + p[0], (p[1]-q[1])*scale + p[1]}
}

// minimise looks for the least value of f near start by the simplex of Nelder and Mead
// (Computer Journal 7, 1965), with the coefficients of Gao and Han (Computational
// Optimization and Applications 51, 2012) for two dimensions. It ends when 60 moves
// have made it no less by 1e-14, or after 400.
func minimise(f func(pair) float64, start pair) (at pair, least float64) {
	const expand, contract, shrink, size = 2, 0.5, 0.5, 0.05
	type vertex struct {
		at pair
		f  float64
	}
	try := func(p pair) vertex { return vertex{p, f(p)} }
	s := []vertex{try(pair{start[0] + size, start[1]}), try(pair{start[0], start[1] + size}), try(start)}
	best := s[2].f
	order := func() { slices.SortStableFunc(s, func(a, b vertex) int { return cmp.Compare(a.f, b.f) }) }
	middle := func() pair { return pair{(s[0].at[0] + s[1].at[0]) / 2, (s[0].at[1] + s[1].at[1]) / 2} }
	order()
	mid := middle()
	for moves, idle := 1, 0; ; moves++ {
		if s[0].f < best-1e-14 {
			best, idle = s[0].f, 0
		} else if idle++; idle == 60 {
			break
		}
		if moves == 399 {
			break
		}
		r := try(mid.towards(1, s[2].at))
		next := r
		switch {
		case r.f < s[0].f:
			if e := try(mid.towards(expand, s[2].at)); e.f < r.f {
				next = e
			}
		case r.f < s[1].f:
		case r.f < s[2].f:
			if next = try(mid.towards(contract, s[2].at)); next.f > r.f {
				next.f = math.Inf(1)
			}
		default:
			next = try(mid.towards(-contract, s[2].at))
		}
		if next.f < s[2].f {
			s[2] = next
			for i := 1; i >= 0 && s[i].f >= next.f; i-- {
				s[i], s[i+1] = s[i+1], s[i]
			}
			for i := range mid {
				mid[i] = mid[i] - s[2].at[i]/2 + next.at[i]/2
			}
			continue
		}
		for i := range s[1:] {
			s[1+i] = try(s[0].at.towards(-shrink, s[1+i].at))
		}
		order()
		mid = middle()
	}
	return s[0].at, s[0].f
}
