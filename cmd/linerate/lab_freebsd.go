package main

import "linerate/internal/testbed/jailbed"

var sweepLabs = jailbed.Sweep
