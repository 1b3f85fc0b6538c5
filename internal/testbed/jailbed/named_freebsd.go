package jailbed

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"linerate/internal/testbed"
)

// Lab is a lab that stays: its jails persist, and only Down removes them. What
// the kernel lists is all that is known of it.
type Lab struct {
	Name string `json:"name"`
	bed  *Bed
}

// Jails of a named lab, as jls lists them: generator, DUT and receiver.
func (l Lab) Jails() []string {
	return []string{l.bed.gen.name, l.bed.dut.first().name, l.bed.sink.name}
}

// UpNamed builds a lab that stays. With an empty name the first free labN is
// taken.
func UpNamed(ctx context.Context, name string, mode testbed.Mode) (Lab, testbed.Description, error) {
	if err := Needed(); err != nil {
		return Lab{}, testbed.Description{}, err
	}
	if err := Sweep(); err != nil {
		return Lab{}, testbed.Description{}, err
	}
	name, err := free(name)
	if err != nil {
		return Lab{}, testbed.Description{}, err
	}
	b := &Bed{options: Options{Mode: mode}, persists: true}
	if err = b.build(ctx, prefix+name); err == nil {
		b.dut, err = b.route(ctx, genPort, sinkPort, testbed.HopPath{})
	}
	if err == nil {
		err = errors.Join(b.host(ctx, b.gen, genPort, ingress, sinkPort), b.host(ctx, b.sink, sinkPort, egress, genPort))
	}
	if err != nil {
		return Lab{}, testbed.Description{}, errors.Join(err, b.Close())
	}
	b.probe(ctx)
	return Lab{name, b}, b.Describe(), nil
}

// free checks a name, or finds one.
func free(name string) (string, error) {
	all, err := jails()
	if err != nil {
		return "", err
	}
	if name == "" {
		for i := 0; ; i++ {
			if name = "lab" + strconv.Itoa(i); all[prefix+name] == 0 {
				return name, nil
			}
		}
	}
	if all[prefix+name] != 0 {
		return "", testbed.LabIsUp(name)
	}
	return name, testbed.CheckLabName(name)
}

// host makes an outer end one of a network stack, for tools by hand: with an
// address, and the far network behind the DUT.
func (b *Bed) host(ctx context.Context, in *jail, own, dut, far end) error {
	commands := append(addressed(own), neighbour(dut)...)
	commands = append(commands, []string{"/sbin/ifconfig", own.Device, "-monitor"},
		routeAdd(far.IPv4.Masked(), dut.IPv4.Addr()), routeAdd(far.IPv6.Masked(), dut.IPv6.Addr()))
	return in.all(ctx, commands)
}

// Labs lists the named labs that are up.
func Labs() ([]Lab, error) {
	all, err := jails()
	if err != nil {
		return nil, err
	}
	var labs []Lab
	for _, full := range slices.Sorted(maps.Keys(all)) {
		name, ok := strings.CutPrefix(full, prefix)
		if !ok || !testbed.LabName.MatchString(name) {
			continue
		}
		labs = append(labs, Lab{name, known(full, all)})
	}
	return labs, nil
}

// known is the bed that jails of a name make.
func known(full string, all map[string]int) *Bed {
	b := &Bed{persists: true, gen: &jail{id: all[full], name: full}, dut: &routers{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		j := &jail{id: all[name], name: name}
		switch child, ok := strings.CutPrefix(name, full+"."); {
		case ok && child == "sink":
			b.sink = j
		case ok && strings.HasPrefix(child, "dut"):
			b.dut.jails = append(b.dut.jails, j)
		}
	}
	return b
}

// Down removes a named lab.
func Down(name string) error {
	labs, err := Labs()
	if err != nil {
		return err
	}
	var names []string
	for _, l := range labs {
		if l.Name == name {
			return l.bed.Close()
		}
		names = append(names, l.Name)
	}
	return testbed.NoLab(name, names)
}

// Counters reads a named lab's DUT.
func (l Lab) Counters() (testbed.Counters, error) {
	if l.bed.sink == nil || len(l.bed.dut.jails) == 0 {
		return testbed.Counters{}, errors.New("some of its jails are gone")
	}
	return l.bed.dut.counters()
}
