// Package tune finds settings that help, by experiment, without selecting lucky ones. It is
// pure: from the measurements so far it computes what to measure next, and finally the
// result. It handles arms, blocks and values; the caller measures them, in a lab or a
// simulation.
//
// The steps follow response surface methodology (Montgomery, Design and Analysis of Experiments):
//
//   - screen: blocks of mirrored pairs of arms, chosen by top-two Thompson sampling (screen.go) with a
//     Bayesian regression on levels and on the pairs of factors that stand out (model.go)
//   - choose: settings that seem to help, without those that may be idle (choose.go)
//   - confirm: one candidate on new blocks, by a group-sequential test at a level that
//     decreases with every confirmation of the same question (confirm.go)
//   - ship: the confirmed candidate without settings that hardly have an effect (choose.go)
//
// Selection and confirmation never share data, so the probability of a false
// winner is the level of the confirmation, however long the search.
package tune
