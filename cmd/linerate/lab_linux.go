package main

import "linerate/internal/testbed/netnsbed"

var sweepLabs = netnsbed.Sweep
