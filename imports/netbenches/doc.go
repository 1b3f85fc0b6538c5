// Package netbenches reads the archive of FreeBSD forwarding benchmarks kept
// since 2015 with Olivier Cochard-Labbé's netbenches scripts, and any tree
// laid out like it: pkt-gen and equilibrium logs, .info files, reductions,
// configuration sets, lab topologies and READMEs.
//
// Nothing of a tree is ever executed or sourced. What cannot be read is
// listed with its reason, never dropped in silence. Numbers are reduced twice:
// as the archive's own script does it, so that they can be compared with what
// was published, and by linerate's own rule.
package netbenches
