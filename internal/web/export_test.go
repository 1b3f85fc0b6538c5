package web

// StateQueued returns the state of a study in the queue.
var StateQueued = stateQueued
