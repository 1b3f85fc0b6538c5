package study

// serveJudge is Judge with the reasons as text.
func serveJudge(p Part, g Gates, o Observation, _ float64) (map[string]float64, []string) {
	m, why := Judge(p, g, o)
	return m, Trial{Reasons: why}.Why()
}
