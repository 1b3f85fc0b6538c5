// Package netbenches reads the archive of FreeBSD forwarding benchmarks that
// has been kept since 2015 with Olivier Cochard-Labbé's netbenches scripts,
// and any tree with the same layout: pkt-gen and equilibrium logs, .info
// files, reductions, configuration sets, lab topologies and READMEs.
//
// No file of a tree is ever executed or sourced. Files that cannot be read are
// listed with the reason. Numbers are reduced twice: as by the archive's own
// script, for comparison with published results, and by linerate's own rule.
package netbenches
