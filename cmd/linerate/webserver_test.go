package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// webServer is a server for scripts: it starts another process of this test,
// which writes its URL and pid into files of that name and ends by itself.
func webServer(args []string) {
	if err := webServerOf(args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func webServerOf(args []string) error {
	if len(args) > 1 {
		return serveFor(args[0])
	}
	c := exec.Command(os.Args[0], args[0], "serve")
	if err := c.Start(); err != nil {
		return err
	}
	for range 500 {
		if _, err := os.Stat(args[0]); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("no server after five seconds")
}

func serveFor(file string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".pid", fmt.Append(nil, os.Getpid()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", fmt.Append(nil, "http://", l.Addr()), 0o644); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	time.AfterFunc(time.Minute, func() { os.Exit(0) }) // a script that failed does not end it
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintln(w, "hello")
	}))
}
