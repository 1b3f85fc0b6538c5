package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// fleetHosts are simulated hosts behind one SSH server on loopback: host i is
// 127.1+i, with a key of its own, and answers every script with a capture that was
// really taken and is made its own: identity, name, uptime, counters, settings.
type fleetHosts struct {
	n        int
	seed     uint64
	delay    time.Duration // mean of what a capture takes on a host
	flaky    float64       // share of hosts whose first one or two tries fail
	dead     float64       // share that never answers
	floods   int           // hosts that print without end
	port     int
	user     ssh.PublicKey
	base     []member
	listener net.Listener

	tries   []atomic.Int32 // of this night
	bundles [][]byte
	sent    atomic.Int64 // whole captures
}

// member is a file of a capture.
type member struct {
	name string
	data []byte
}

// newFleetHosts unpacks the capture that all are made of, and listens.
func newFleetHosts(h *fleetHosts, capture []byte) error {
	gz, err := gzip.NewReader(bytes.NewReader(capture))
	if err != nil {
		return err
	}
	tr := tar.NewReader(gz)
	for {
		e, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if e.Typeflag == tar.TypeReg {
			data, err := io.ReadAll(tr)
			if err != nil {
				return err
			}
			h.base = append(h.base, member{e.Name, data})
		}
	}
	h.tries, h.bundles = make([]atomic.Int32, h.n), make([][]byte, h.n)
	if h.listener, err = net.Listen("tcp4", "0.0.0.0:0"); err != nil { // all of 127/8; strangers are sent away
		return err
	}
	h.port = h.listener.Addr().(*net.TCPAddr).Port
	go h.serve()
	return nil
}

func (h *fleetHosts) address(i int) string {
	return net.JoinHostPort(fmt.Sprintf("127.%d.%d.%d", 1+i>>16, i>>8&255, i&255), fmt.Sprint(h.port))
}

// random is host i's own chance, for one purpose.
func (h *fleetHosts) random(i int, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(h.seed<<20+uint64(i), purpose))
}

func (h *fleetHosts) key(i int) ed25519.PrivateKey {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, h.seed<<32+uint64(i)))
	return ed25519.NewKeyFromSeed(sum[:])
}

// What a host is like.
const (
	sound = iota
	flakyHost
	deadHost
	floodHost
)

func (h *fleetHosts) nature(i int) int {
	x := h.random(i, 1).Float64()
	switch {
	case i%997 == 7 && i/997 < h.floods:
		return floodHost
	case x < h.flaky:
		return flakyHost
	case x < h.flaky+h.dead:
		return deadHost
	}
	return sound
}

// night makes the captures of one night; changed reports the hosts on which somebody
// has set something since.
func (h *fleetHosts) night(night int, changed func(i int) bool) error {
	var wg sync.WaitGroup
	var failed atomic.Pointer[error]
	next := atomic.Int64{}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= h.n {
					return
				}
				h.tries[i].Store(0)
				var err error
				if h.bundles[i], err = h.bundle(i, night, changed(i)); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// lists are settings that one of a fleet's images has in its sysctl.d.
var lists = []string{
	"", "net.core.somaxconn=128\n", "net.ipv4.tcp_rmem=4096 87380 16777216\nnet.ipv4.tcp_wmem=4096 65536 16777216\n",
	"net.ipv4.tcp_tw_reuse=1\nnet.ipv4.tcp_fin_timeout=15\nnet.ipv4.tcp_timestamps=0\n", "vm.swappiness=10\nnet.ipv4.ip_forward=1\nnet.netfilter.nf_conntrack_max=1048576\n",
}

// upFor is how long the hosts have been up, in seconds: so long that a day more makes no
// difference to what counters come to in an hour.
const upFor = 400 * 86_400

// bundle is host i's capture of a night.
func (h *fleetHosts) bundle(i, night int, changed bool) ([]byte, error) {
	var out bytes.Buffer
	gz, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	tw := tar.NewWriter(gz)
	add := func(name string, data []byte) error {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err := tw.Write(data)
		return err
	}
	image := h.random(i, 2).IntN(len(lists))
	list := lists[image]
	if changed {
		list += "net.ipv4.tcp_tw_recycle=1\n"
	}
	counts := h.random(i, uint64(100+night))
	for _, m := range h.base {
		data := m.data
		switch strings.TrimPrefix(m.name, "./") {
		case "manifest.tsv":
			data = append(withoutLines(withoutLines(data, "machine\t"), "taken\t"), fmt.Sprintf("taken\t2026-11-%02dT03:00:00Z\nmachine\t%s\nfile\t/etc/sysctl.d/60-fleet.conf\tread\t\n", night, h.machine(i))...)
		case "trees/proc-sys":
			data = replaceLine(data, "/proc/sys/kernel/hostname\t", fmt.Sprintf("host%05d", i))
			data = movedLines(data, counts, "/proc/sys/fs/inode-nr", "/proc/sys/fs/file-nr", "/proc/sys/fs/dentry-state")
		case "files/proc/uptime":
			data = fmt.Appendf(nil, "%d.00 1.00\n", upFor+86_400*night+i)
		case "files/proc/net/snmp", "files/proc/net/netstat", "files/proc/net/snmp6", "files/proc/interrupts":
			data = counted(data, counts)
		case "files/proc/meminfo":
			data = movedLines(data, counts, "MemFree:", "MemAvailable:", "Cached:", "Active:")
		case "trees/sys":
			data = movedLines(data, counts, "/statistics/rx_packets", "/statistics/tx_packets", "/statistics/rx_bytes", "/statistics/tx_bytes")
		}
		if err := add(m.name, data); err != nil {
			return nil, err
		}
	}
	if err := add("./files/etc/sysctl.d/60-fleet.conf", []byte(list)); err != nil {
		return nil, err
	}
	err = errors.Join(tw.Close(), gz.Close())
	return out.Bytes(), err
}

func (h *fleetHosts) machine(i int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "machine %d %d", h.seed, i))
	return hex.EncodeToString(sum[:16])
}

func withoutLines(data []byte, prefix string) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, []byte(prefix)) {
			out = append(out, line...)
		}
	}
	return out
}

func replaceLine(data []byte, prefix, value string) []byte {
	return append(withoutLines(data, prefix), prefix+value+"\n"...)
}

// counted moves counters on by up to a hundredth, as a night does; what is nought stays.
func counted(data []byte, r *rand.Rand) []byte {
	words := strings.FieldsFunc(string(data), func(c rune) bool { return c == ' ' })
	for i, w := range words {
		var n uint64
		if _, err := fmt.Sscanf(w, "%d", &n); err == nil && n > 1000 && len(fmt.Sprint(n)) == len(strings.TrimSpace(w)) {
			words[i] = strings.Replace(w, fmt.Sprint(n), fmt.Sprint(n+r.Uint64N(n/100)), 1)
		}
	}
	return []byte(strings.Join(words, " "))
}

// movedLines moves on the numbers of the lines that hold one of the words.
func movedLines(data []byte, r *rand.Rand, words ...string) []byte {
	var out []byte
	for line := range bytes.Lines(data) {
		for _, w := range words {
			if bytes.Contains(line, []byte(w)) {
				value := bytes.LastIndexAny(line, "\t:") + 1
				line = append(bytes.Clone(line[:value]), counted(line[value:], r)...)
				break
			}
		}
		out = append(out, line...)
	}
	return out
}

func (h *fleetHosts) serve() {
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		go h.connection(conn)
	}
}

// connection is a client at one of the hosts.
func (h *fleetHosts) connection(conn net.Conn) {
	defer conn.Close()
	at, ok := conn.LocalAddr().(*net.TCPAddr)
	from, ok2 := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !ok2 || !at.IP.IsLoopback() || !from.IP.IsLoopback() {
		return
	}
	ip := at.IP.To4()
	i := int(ip[1]-1)<<16 + int(ip[2])<<8 + int(ip[3])
	if i < 0 || i >= h.n {
		return
	}
	try := int(h.tries[i].Add(1))
	mode := -1
	switch r := h.random(i, 3); h.nature(i) {
	case deadHost:
		return
	case flakyHost:
		if try <= 1+r.IntN(2) {
			mode = r.IntN(3)
		}
	}
	if mode == 0 { // sshd drops it: MaxStartups
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return
	}
	if mode == 1 { // in the middle of the exchange of keys
		_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n")
		time.Sleep(50 * time.Millisecond)
		return
	}
	h.session(conn, i, mode == 2)
}

func (h *fleetHosts) session(conn net.Conn, i int, cut bool) {
	signer, err := ssh.NewSignerFromKey(h.key(i))
	if err != nil {
		return
	}
	config := &ssh.ServerConfig{ServerVersion: "SSH-2.0-bench", PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(key.Marshal(), h.user.Marshal()) {
			return nil, errors.New("not the user's key")
		}
		return nil, nil
	}}
	config.AddHostKey(signer)
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	defer server.Close()
	go ssh.DiscardRequests(requests)
	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		for r := range asked {
			_ = r.Reply(r.Type == "exec", nil)
			if r.Type == "exec" {
				h.run(channel, i, cut)
				break
			}
		}
		go ssh.DiscardRequests(asked)
		if cut {
			return
		}
	}
}

// run does as sh -s does with the capture script: it reads all of it, takes its time,
// and prints.
func (h *fleetHosts) run(channel ssh.Channel, i int, cut bool) {
	defer channel.Close()
	in := bufio.NewReader(channel)
	_, _ = in.ReadString('\n')
	echo, _ := in.ReadString('\n')
	mark, ok := strings.CutPrefix(strings.TrimSpace(echo), "echo; echo ")
	if _, err := io.Copy(io.Discard, in); err != nil || !ok {
		return
	}
	time.Sleep(time.Duration(float64(h.delay) * (0.5 + h.random(i, 4).Float64())))
	fmt.Fprintf(channel, "\n%s\n", mark)
	switch {
	case cut:
		_, _ = channel.Write(h.bundles[i][:len(h.bundles[i])/2])
		return
	case h.nature(i) == floodHost:
		for chunk := make([]byte, 32<<10); ; {
			if _, err := channel.Write(chunk); err != nil {
				return
			}
		}
	}
	if _, err := channel.Write(h.bundles[i]); err != nil {
		return
	}
	h.sent.Add(1)
	_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
}
