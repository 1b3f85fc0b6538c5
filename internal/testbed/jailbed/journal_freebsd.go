package jailbed

// stateDir is where labs that may change host settings keep their journals: a
// boot clears it, and undoes the changes too.
var stateDir = "/var/run/linerate"
