package netnsbed

import (
	"errors"
	"os"
	"strconv"
	"time"

	"linerate/internal/testbed"
)

// UpNamed builds a lab that stays: three named namespaces, NAME-gen, NAME-dut
// and NAME-sink, for ip netns exec. With an empty name the first free labN is
// taken. Only Down removes it.
func UpNamed(name string, mode testbed.Mode) (Lab, testbed.Description, error) {
	if err := canNest(); err != nil {
		return Lab{}, testbed.Description{}, err
	}
	if err := Sweep(); err != nil {
		return Lab{}, testbed.Description{}, err
	}
	l, err := register(name, mode)
	if err != nil {
		return l, testbed.Description{}, err
	}
	d, err := l.build()
	if err == nil {
		l.Persistent = true
		err = l.save()
	}
	if err != nil {
		return l, d, errors.Join(err, l.remove())
	}
	return l, d, nil
}

// register takes a name, before anything is made under it.
func register(name string, mode testbed.Mode) (Lab, error) {
	unlock, err := lockRegistry()
	if err != nil {
		return Lab{}, err
	}
	defer unlock()
	if name == "" {
		for i := 0; ; i++ {
			name = "lab" + strconv.Itoa(i)
			if _, err := os.Stat((Lab{Name: name}).file()); err != nil {
				break
			}
		}
	}
	if err := testbed.CheckLabName(name); err != nil {
		return Lab{}, err
	}
	l := Lab{Name: name, Mode: string(mode), Owner: os.Getpid(), OwnerStart: startTime(os.Getpid()), Created: time.Now().UTC()}
	if _, err := os.Stat(l.file()); err == nil {
		return l, testbed.LabIsUp(name)
	}
	return l, l.save()
}

func (l Lab) build() (testbed.Description, error) {
	b := &Bed{mode: testbed.Mode(l.Mode), privileged: true}
	if err := b.place(nil); err != nil {
		return testbed.Description{}, err
	}
	names := l.Namespaces()
	for i, ns := range []**namespace{&b.gen, &b.dut.first, &b.sink} {
		var err error
		if *ns, err = newNamespace(names[i]); err != nil {
			return b.Describe(), err
		}
		defer (*ns).close()
	}
	if err := wire(b.gen, genBypass, b.sink, sinkBypass); err != nil {
		return b.Describe(), err
	}
	if err := connect(b.gen, &b.dut, b.sink, testbed.HopPath{}); err != nil {
		return b.Describe(), err
	}
	if b.mode == testbed.Overload {
		if _, err := b.thread(b.dut.first); err != nil {
			return b.Describe(), err
		}
	}
	b.probe()
	return b.Describe(), nil
}

// Down removes a named lab.
func Down(name string) error {
	unlock, err := lockRegistry()
	if err != nil {
		return err
	}
	defer unlock()
	labs, err := Labs()
	if err != nil {
		return err
	}
	var known []string
	for _, l := range labs {
		if l.Name == name {
			return l.remove()
		}
		known = append(known, l.Name)
	}
	return testbed.NoLab(name, known)
}

// Counters reads a named lab's DUT.
func (l Lab) Counters() (testbed.Counters, error) {
	ns, err := openNamespace(l.Name + "-dut")
	if err != nil {
		return testbed.Counters{}, err
	}
	defer ns.close()
	return readCounters(routers{first: ns})
}
