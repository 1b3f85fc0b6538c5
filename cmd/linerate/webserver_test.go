package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"linerate/internal/labtest"
)

// serverOf is a server for scripts: it starts another process of this test,
// which writes its address and pid into files of the name given and ends by
// itself. again makes the file NAME.again: a client that has had an answer asks again.
func serverOf(prefix string, serve func(l net.Listener, again func()) error) func() {
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
	if !labtest.Eventually(func() bool { _, err := os.Stat(file); return err == nil }) {
		return fmt.Errorf("no server after %v", labtest.Patience)
	}
	return nil
}

func serveFor(file, prefix string, serve func(net.Listener, func()) error) error {
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
	time.AfterFunc(5*time.Minute, func() { os.Exit(0) }) // a script that failed does not end it
	return serve(l, func() { _ = os.WriteFile(file+".again", nil, 0o644) })
}

// webServer says hello at its root and at /again, and nowhere else. A connection
// that asks at /again twice has had its first answer.
func webServer(l net.Listener, again func()) error {
	var seen sync.Map
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
		case "/again":
			if _, twice := seen.LoadOrStore(r.RemoteAddr, true); twice {
				again()
			}
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintln(w, "hello")
	}))
}

// interrupt runs a command, interrupts it (SIGINT) once there is a file, and
// exits as it did.
func interrupt(file string, argv []string) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	fatal(c.Start())
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	for tick := time.Tick(10 * time.Millisecond); ; <-tick {
		if _, err := os.Stat(file); err == nil {
			_ = c.Process.Signal(os.Interrupt)
			<-ended
		}
		select {
		case <-ended:
			os.Exit(c.ProcessState.ExitCode())
		default:
		}
	}
}
