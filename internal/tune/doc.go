// Package tune finds settings that help, by experiment, without crowning a lucky one. It is
// pure: from what was measured so far it computes what to measure next, and at the end the
// result. It knows arms, blocks and values; the caller measures them, in a lab or a
// simulation.
//
// The steps are those of response surface work (Montgomery, Design and Analysis of Experiments):
//
//   - screen: blocks of mirrored pairs of arms by top-two Thompson sampling (screen.go) on a Bayesian
//     regression of levels and of those pairs of factors that stand out (model.go)
//   - choose: what leans to help, less what may be idle (choose.go)
//   - confirm: one candidate, fresh blocks, a group-sequential test at a level that
//     falls with every confirmation of the same question (confirm.go)
//   - what ships is the confirmed candidate, less the settings whose own effects are hardly any (choose.go)
//
// Selection and confirmation never share data, so that the chance of a winner
// where nothing helps is the level of the confirmation, however long was searched.
package tune
