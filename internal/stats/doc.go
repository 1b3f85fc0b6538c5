// Package stats holds linerate's statistics: samples, intervals, tests,
// verdicts and their limits. No other package computes them.
//
// One test decides. For a study of randomised complete blocks it is Student's t on the
// block-wise log ratios variant/control (CompareBlocks); for two independent samples it is
// Welch's t on the logarithms (CompareSamples). Both estimate the same quantity, the ratio
// of geometric means, from which percentages and nanoseconds follow.
//
// Everything is pure: no input or output, no clock, and randomness only from
// a seed that the caller passes. Warnings are data: each says what is wrong
// with a comparison and what to do about it.
package stats
