package study

import (
	"linerate/internal/yamlfile"
	"reflect"
)

// DefaultGates are the limits of a study that states none.
func DefaultGates() Gates {
	return Gates{DriftPercent: 15, StealPercent: 2,
		ContentionPercent: 35, StarvedPercent: 20, UnsentPercent: 0.5, PacingPercent: 2, Headroom: 1.2, CostLossPercent: 1, GoodRoundsPercent: 10,
		FailedPercent: 0.5}
}

// check refuses what is no percentage, and a headroom below 1.
func (g *Gates) check() *yamlfile.Problem {
	v := reflect.ValueOf(*g)
	for i := range v.NumField() {
		key, least := yamlKey(v.Type().Field(i)), 0.0
		if key == "headroom" {
			least = 1
		}
		if p := yamlfile.Within("gates."+key, v.Field(i).Float(), least, 100); p != nil {
			return p
		}
	}
	return nil
}
