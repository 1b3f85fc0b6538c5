// Package tune finds settings that help, by experiment, without crowning a
// lucky one. It is pure: told what was measured so far, it says what to measure
// next, and at the end what that came to. It knows arms, blocks and values; who
// measures them (a lab, a simulation) is the caller's affair.
//
// The steps are those of response surface work (Montgomery, Design and Analysis
// of Experiments; NIST/SEMATECH e-Handbook of Statistical Methods, 5.3.3):
//
//   - screen: a two-level orthogonal array and its fold-over, run in blocks of
//     mirrored pairs, tells the main effects of all factors at once, clear of
//     two-factor interactions (array.go, screen.go, effects.go)
//   - choose: which effects are real is judged by their own distribution, and what
//     pays for its place in a plan is put together (model.go)
//   - levels: the further levels of each factor, one by one beside the best of the
//     first; what promises nothing is measured no more (levels.go)
//   - race: the candidate, its borderline flips and other levels, by successive
//     halving; nothing is claimed of it (race.go)
//   - confirm: one candidate, fresh blocks, a group-sequential test at a level that
//     falls with every confirmation of the same question (confirm.go)
//   - minimise: what the confirmed candidate does without goes (minimise.go)
//
// Selection and confirmation never share data, so that the chance of a winner
// where nothing helps is the level of the confirmation, however long was searched.
package tune
