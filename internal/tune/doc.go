// Package tune finds settings that help, by experiment, without crowning a lucky one. It is
// pure: from what was measured so far it computes what to measure next, and at the end the
// result. It knows arms, blocks and values; the caller measures them, in a lab or a
// simulation.
//
// The steps are those of response surface work (Montgomery, Design and Analysis
// of Experiments; NIST/SEMATECH e-Handbook of Statistical Methods, 5.3.3):
//
//   - screen: a two-level orthogonal array and its fold-over, run in blocks of
//     mirrored pairs, tells the main effects of all factors at once, clear of
//     two-factor interactions (array.go, screen.go, effects.go)
//   - choose: the distribution of the effects decides which are real, and what
//     pays for its place in a plan is put together (model.go)
//   - levels: the further levels of each factor, one by one against the best of the
//     first; unpromising ones are dropped (levels.go)
//   - race: the candidate, its borderline flips and other levels, by successive
//     halving; nothing is claimed of it (race.go)
//   - confirm: one candidate, fresh blocks, a group-sequential test at a level that
//     falls with every confirmation of the same question (confirm.go)
//   - minimise: what the confirmed candidate does without goes (minimise.go)
//
// Selection and confirmation never share data, so that the chance of a winner
// where nothing helps is the level of the confirmation, however long was searched.
package tune
