package jailbed

// stateDir is where labs that may change host settings keep their journals: a
// boot empties it, and puts back what they changed.
var stateDir = "/var/run/linerate"
