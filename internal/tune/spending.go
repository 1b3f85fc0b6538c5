package tune

import "math"

// level of all confirmations of a question together.
const level = 0.05

// Alpha is the level of the k-th confirmation of a question, from 1:
// 5 % · 6/(π²k²). Over all k that is 5 %, so that repeated questions
// find a winner where there is none in at most one question in twenty.
func Alpha(k int) float64 {
	k = max(1, k)
	return level * 6 / (math.Pi * math.Pi * float64(k) * float64(k))
}
