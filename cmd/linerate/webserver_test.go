package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// serverOf is a server for scripts: it starts another process of this test,
// which writes its address and pid into files of the name given and ends by
// itself.
func serverOf(prefix string, serve func(net.Listener) error) func() {
	return func() {
		var err error
		if args := os.Args[1:]; len(args) > 1 {
			err = serveFor(args[0], prefix, serve)
		} else {
			err = serveElsewhere(args[0])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func serveElsewhere(file string) error {
	c := exec.Command(os.Args[0], file, "serve")
	if err := c.Start(); err != nil {
		return err
	}
	for range 500 {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("no server after five seconds")
}

func serveFor(file, prefix string, serve func(net.Listener) error) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".pid", fmt.Append(nil, os.Getpid()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", fmt.Append(nil, prefix, l.Addr()), 0o644); err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return err
	}
	time.AfterFunc(time.Minute, func() { os.Exit(0) }) // a script that failed does not end it
	return serve(l)
}

// webServer says hello at its root alone.
func webServer(l net.Listener) error {
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintln(w, "hello")
	}))
}
