package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"linerate/internal/load"
	"linerate/internal/port"
)

// trafficPeers are the other generators that this machine has.
func trafficPeers(gen port.Port) []*trafficRow {
	var rows []*trafficRow
	add := func(name string, args func(dir string) ([]string, error)) {
		path, err := exec.LookPath(name)
		if err != nil {
			return
		}
		rows = append(rows, &trafficRow{Generator: name, Sink: "drop", Flows: 1, start: func(ctx context.Context) error {
			return runPeer(ctx, gen, path, args)
		}})
	}
	peer := gen.Peer.String()
	add("xdp-trafficgen", func(string) ([]string, error) {
		return []string{"udp", gen.Device, "-m", peer, "-a", "2001:2::2", "-A", "2001:2::1", "-p", "8201", "-P", "1024", "-s", "66", "-t", "1", "-I", "10"}, nil
	})
	add("dpdk-testpmd", func(string) ([]string, error) {
		return []string{"-l", "0,1", "--main-lcore=1", "--no-huge", "-m", "400", "--no-pci", "--file-prefix=linerate",
			"--vdev=net_af_packet0,iface=" + gen.Device, "--", "--forward-mode=txonly", "--txpkts=60", "--nb-cores=1",
			"--eth-peer=0," + peer, "--tx-ip=198.18.0.1,198.19.0.1", "--total-num-mbufs=8192", "--stats-period", "10"}, nil
	})
	add("tcpreplay", func(dir string) ([]string, error) {
		file := filepath.Join(dir, "a.pcap")
		return []string{"--topspeed", "-K", "--loop=0", "-q", "-i", gen.Device, file}, os.WriteFile(file, pcap(peerFrame(gen), 1000), 0o600)
	})
	add("trafgen", func(dir string) ([]string, error) {
		file := filepath.Join(dir, "a.cfg")
		text := strings.Trim(fmt.Sprintf("% x", peerFrame(gen)), " ")
		text = "{ 0x" + strings.ReplaceAll(text, " ", ", 0x") + " }\n"
		return []string{"-i", file, "-o", gen.Device, "-P", "1", "-Q", "-C"}, os.WriteFile(file, []byte(text), 0o600)
	})
	return rows
}

// peerFrame is the 64-byte frame that peers send.
func peerFrame(gen port.Port) []byte {
	spec := load.Spec{SrcMAC: gen.MAC, DstMAC: gen.Peer, Sizes: []int{64}, Flows: load.FlowSpace{Src: benchSrc, Dst: benchDst}}
	b := make([]byte, 60)
	if f, err := load.NewFramer(spec); err == nil {
		f.Put(b, 0)
	}
	return b
}

// pcap is a capture file of n frames.
func pcap(frame []byte, n int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0xa1b2c3d4)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = le.AppendUint32(b, 65535)
	b = le.AppendUint32(b, 1)
	for i := range n {
		b = le.AppendUint32(b, uint32(i))
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, uint32(len(frame)))
		b = le.AppendUint32(b, uint32(len(frame)))
		b = append(b, frame...)
	}
	return b
}

// runPeer runs a generator on CPU 0 in the port's namespace until ctx ends.
func runPeer(ctx context.Context, gen port.Port, path string, args func(dir string) ([]string, error)) error {
	dir, err := os.MkdirTemp("", "linerate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	argv, err := args(dir)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, argv...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return gen.In(func() error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var before, only unix.CPUSet
		only.Set(0)
		if unix.SchedGetaffinity(0, &before) == nil && !strings.HasSuffix(path, "testpmd") {
			_ = unix.SchedSetaffinity(0, &only) // the child inherits it
			defer func() { _ = unix.SchedSetaffinity(0, &before) }()
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case err := <-ended:
			return fmt.Errorf("%s ended by itself: %w", filepath.Base(path), err)
		case <-ctx.Done():
		}
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended by now
		select {
		case err = <-ended:
		case <-time.After(3 * time.Second):
			_ = cmd.Process.Kill()
			err = <-ended
		}
		if ctx.Err() == nil {
			return err
		}
		return ctx.Err()
	})
}
