package cli

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Args[0] == "stubborn" {
		stubborn()
	}
	os.Exit(m.Run())
}

// stubborn is a command that the first interrupt does not end.
func stubborn() {
	ctx, _ := UntilInterrupted()
	fmt.Println("begun")
	<-ctx.Done()
	fmt.Println("cleaning up")
	time.Sleep(time.Minute)
	os.Exit(7)
}

// TestSecondInterruptEndsTheProcess: the first gives a command the time to clean
// up, and so does a second at its heels (timeout(1) sends two); one that comes
// later ends it.
func TestSecondInterruptEndsTheProcess(t *testing.T) {
	t.Parallel()
	// What this process hears, its children do not ignore, as they would where a
	// script started it in the background (sh(1), asynchronous lists).
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, os.Interrupt)
	defer signal.Stop(heard)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = []string{"stubborn"}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	says := bufio.NewScanner(out)
	says.Scan() // begun
	first := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil || !says.Scan() || says.Text() != "cleaning up" {
		t.Fatalf("after the first interrupt it says %q (%v)", says.Text(), err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			by, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if took := time.Since(first); by.Signal() != syscall.SIGINT || took < again {
				t.Errorf("it ended with %v after %v, want the second interrupt to end it after %v", err, took, again)
			}
			return
		case <-time.After(again / 20):
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
}
