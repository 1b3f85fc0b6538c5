package stats

import "math"

// Estimate is one study's estimate of an effect.
type Estimate struct{ Effect, SE float64 }

// Between is prior knowledge of how much an effect differs between studies: a share of
// the effect, but at least a floor. Weight is its weight in degrees of freedom.
type Between struct{ Share, Floor, Weight float64 }

// Pooled combines several studies of an effect that may differ between them.
type Pooled struct {
	Studies int
	// Mean is the mean effect with its interval. Prediction is the interval for the effect
	// in one further study, which differs from the mean as the present ones do.
	Mean, Prediction Interval
	SE, DF           float64 // of Mean
	// Tau is the standard deviation of true effects between studies, I2 its share of the
	// total variance, 0 to 1.
	Tau, I2 float64
}

// Pool estimates a mean by a random-effects model. The variance between studies is estimated by
// restricted maximum likelihood (Viechtbauer, J. Educ. Behav. Stat. 30, 2005), starting from
// DerSimonian and Laird's estimate (Control. Clin. Trials 7, 1986). The mean's error is that of
// Hartung and Knapp (Statist. Med. 20, 2001) and Sidik and Jonkman, never below the model's own
// (Röver, Knapp & Friede, BMC Med. Res. Methodol. 15, 2015); the prediction interval is that of
// Higgins, Thompson and Spiegelhalter (J. R. Statist. Soc. A 172, 2009), with the mean's degrees of
// freedom (Partlett & Riley, Statist. Med. 36, 2017).
//
// Few studies say almost nothing about their variance, and a single one nothing: the prior
// moderates it, weighted by degrees of freedom (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004). A
// zero Between gives the plain estimates.
func Pool(es []Estimate, prior Between, level float64) Pooled {
	p := Pooled{Studies: len(es), DF: float64(len(es)-1) + prior.Weight, Mean: noInterval(math.NaN(), level), Prediction: noInterval(math.NaN(), level)}
	if len(es) == 0 {
		return p
	}
	common, _, _ := weighted(es, 0)
	own := float64(len(es) - 1)
	tau2 := 0.0
	if own > 0 {
		tau2 = own * restrictedLikelihood(es)
	}
	if p.DF > 0 {
		tau2 = (tau2 + prior.Weight*(sq(prior.Share*common)+sq(prior.Floor))) / p.DF
	}
	mean, all, scatter := weighted(es, tau2)
	p.Mean.Estimate, p.Prediction.Estimate, p.Tau, p.I2 = mean, mean, math.Sqrt(tau2), tau2/(tau2+typical(es))
	if !(p.DF > 0) {
		return p
	}
	p.SE = math.Sqrt(max(1, (scatter+prior.Weight)/p.DF) / all)
	t := TQuantile(1-(1-level)/2, p.DF)
	p.Mean.Low, p.Mean.High = mean-t*p.SE, mean+t*p.SE
	reach := t * math.Sqrt(sq(p.SE)+tau2)
	p.Prediction.Low, p.Prediction.High = mean-reach, mean+reach
	return p
}

func sq(x float64) float64 { return x * x }

// weighted returns the mean for a given variance between studies, the sum of the
// weights, and the weighted sum of squares about the mean.
func weighted(es []Estimate, tau2 float64) (mean, all, scatter float64) {
	for _, e := range es {
		w := 1 / (sq(e.SE) + tau2)
		all += w
		mean += w * e.Effect
	}
	mean /= all
	for _, e := range es {
		scatter += sq(e.Effect-mean) / (sq(e.SE) + tau2)
	}
	return mean, all, scatter
}

// typical returns the variance within a typical study (Higgins & Thompson, Statist. Med. 21,
// 2002); for a single study, for which that is undefined, its own variance.
func typical(es []Estimate) float64 {
	s1, s2 := 0.0, 0.0
	for _, e := range es {
		w := 1 / sq(e.SE)
		s1, s2 = s1+w, s2+w*w
	}
	if len(es) < 2 {
		return 1 / s1
	}
	return float64(len(es)-1) * s1 / (s1*s1 - s2)
}

// derSimonianLaird returns the moment estimate of the variance between studies.
func derSimonianLaird(es []Estimate) float64 {
	_, all, q := weighted(es, 0)
	squares := 0.0
	for _, e := range es {
		squares += 1 / sq(sq(e.SE))
	}
	return max(0, (q-float64(len(es)-1))/(all-squares/all))
}

// restrictedLikelihood returns the REML estimate of the variance between studies, by
// Fisher scoring.
func restrictedLikelihood(es []Estimate) float64 {
	tau2 := derSimonianLaird(es)
	for range 200 {
		mean, all, _ := weighted(es, tau2)
		s2, s3, fit := 0.0, 0.0, 0.0
		for _, e := range es {
			w := 1 / (sq(e.SE) + tau2)
			s2, s3 = s2+w*w, s3+w*w*w
			fit += w * w * sq(e.Effect-mean)
		}
		step := (fit - (all - s2/all)) / (s2 - 2*s3/all + sq(s2/all))
		next := max(0, tau2+step)
		if math.Abs(next-tau2) <= 1e-12*(1+tau2) {
			return next
		}
		tau2 = next
	}
	return tau2
}

// Weigh combines independent predictions of one effect, weighted by their inverse
// variances, with the smallest of their degrees of freedom.
func Weigh(level float64, ps ...Pooled) Interval {
	sum, all, df := 0.0, 0.0, math.Inf(1)
	for _, p := range ps {
		w := 1 / (sq(p.SE) + sq(p.Tau))
		sum, all, df = sum+w*p.Mean.Estimate, all+w, min(df, p.DF)
	}
	i := noInterval(sum/all, level)
	if reach := TQuantile(1-(1-level)/2, df) / math.Sqrt(all); df > 0 {
		i.Low, i.High = i.Estimate-reach, i.Estimate+reach
	}
	return i
}
