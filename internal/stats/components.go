package stats

import "math"

// Components splits the variance of nested measurements: seconds within
// trials within boots. Where most of it lies is where repetitions pay.
type Components struct {
	Mean                float64
	Boot, Trial, Second float64 // variances, never negative
	Boots               int
	Trials, Seconds     int // in all
}

// VarianceComponents estimates them by analysis of variance for nested random
// effects (Searle, Casella & McCulloch 1992, §3.6; unbalanced data allowed).
// x[boot][trial] holds a trial's seconds. Fewer than two boots give NaN for
// Boot; likewise below.
func VarianceComponents(x [][][]float64) Components {
	c := Components{Boot: math.NaN(), Trial: math.NaN(), Second: math.NaN()}
	var n float64 // seconds
	var sumSquaredTrials, sumSquaredBoots, trialsPerBoot float64
	var grand float64
	for _, boot := range x {
		bn, bt := 0.0, 0.0
		for _, trial := range boot {
			if len(trial) == 0 {
				continue
			}
			k := float64(len(trial))
			c.Trials++
			bn += k
			bt += k * k
			sumSquaredTrials += k * k
			for _, v := range trial {
				grand += v
			}
		}
		if bn == 0 {
			continue
		}
		c.Boots++
		n += bn
		sumSquaredBoots += bn * bn
		trialsPerBoot += bt / bn
	}
	c.Seconds = int(n)
	if n == 0 {
		c.Mean = math.NaN()
		return c
	}
	c.Mean = grand / n
	ssBoot, ssTrial, ssSecond := nestedSquares(x, c.Mean)
	boots, trials := float64(c.Boots), float64(c.Trials)
	if n > trials {
		c.Second = ssSecond / (n - trials)
	}
	second := orZero(c.Second)
	if trials > boots {
		k1 := (n - trialsPerBoot) / (trials - boots)
		c.Trial = max(0, (ssTrial/(trials-boots)-second)/k1)
	}
	if boots > 1 {
		k2 := (trialsPerBoot - sumSquaredTrials/n) / (boots - 1)
		k3 := (n - sumSquaredBoots/n) / (boots - 1)
		c.Boot = max(0, (ssBoot/(boots-1)-second-k2*orZero(c.Trial))/k3)
	}
	return c
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// nestedSquares are the sums of squares between boots, between trials within
// boots, and within trials.
func nestedSquares(x [][][]float64, grand float64) (boot, trial, second float64) {
	for _, trials := range x {
		var all []float64
		for _, seconds := range trials {
			all = append(all, seconds...)
		}
		if len(all) == 0 {
			continue
		}
		bm, _ := meanVariance(all)
		boot += float64(len(all)) * (bm - grand) * (bm - grand)
		for _, seconds := range trials {
			if len(seconds) == 0 {
				continue
			}
			tm, _ := meanVariance(seconds)
			trial += float64(len(seconds)) * (tm - bm) * (tm - bm)
			for _, v := range seconds {
				second += (v - tm) * (v - tm)
			}
		}
	}
	return boot, trial, second
}

// TrialsPerBoot is how many trials to run per boot to know the mean best in a
// given time, when a boot takes bootCost and a trial trialCost (Kalibera &
// Jones, ISMM 2013). It is 1 when boots are all that varies.
func (c Components) TrialsPerBoot(bootCost, trialCost float64) int {
	within := orZero(c.Trial)
	if per := float64(c.Seconds) / math.Max(1, float64(c.Trials)); per > 0 {
		within += orZero(c.Second) / per
	}
	if !(c.Boot > 0) || !(trialCost > 0) {
		return 1
	}
	return max(1, int(math.Round(math.Sqrt(bootCost/trialCost*within/c.Boot))))
}
