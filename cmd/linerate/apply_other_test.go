//go:build !linux

package main

func makePlan(string, []string) {}
