package knob

import (
	"context"
	"strings"

	"linerate/internal/setting"
)

// forward replaces the kernel's routing.
func (t *Target) forward(ctx context.Context, s setting.Setting) (string, error) {
	if why := Never(s); why != "" {
		return "", unavailable(s, "%s", why)
	}
	// A jail cannot load modules; without if_bridge, ifconfig says "Invalid argument".
	if _, err := t.Run(ctx, "", "/sbin/ifconfig", "bridge0", "create"); err != nil {
		return "", unavailable(s, "no bridge can be made: kldload if_bridge (%s)", reason(err))
	}
	return "", t.bridge(ctx)
}

// bridge joins the DUT's two devices. Frames are sent to the ingress's own address, as to a router;
// so the ingress gets another address, and a static entry in the bridge places the old one behind
// the egress. Members have no IP addresses: FreeBSD 15.0 refuses those that do (bridge(4)).
func (t *Target) bridge(ctx context.Context) error {
	in, out := t.Devices["ingress"], t.Devices["egress"]
	said, err := t.Run(ctx, "", "/sbin/ifconfig", in, "ether")
	if err != nil {
		return err
	}
	old := word(said, "ether")
	commands := [][]string{{in, "ether", "02:00:00:00:00:12"}}
	for _, device := range []string{in, out} {
		said, err := t.Run(ctx, "", "/sbin/ifconfig", device)
		if err != nil {
			return err
		}
		commands = append(commands, unaddressed(device, said)...)
	}
	commands = append(commands, []string{"bridge0", "addm", in, "addm", out, "static", out, old, "up"})
	for _, c := range commands {
		if _, err := t.Run(ctx, "", append([]string{"/sbin/ifconfig"}, c...)...); err != nil {
			return err
		}
	}
	return nil
}

// unaddressed returns the commands that remove the addresses shown by ifconfig for a device.
func unaddressed(device, said string) (commands [][]string) {
	for line := range strings.Lines(said) {
		f := strings.Fields(line)
		if len(f) > 1 && (f[0] == "inet" || f[0] == "inet6") {
			commands = append(commands, []string{device, f[0], f[1], "delete"})
		}
	}
	return commands
}

// word returns the word after a given word in a text; "" if there is none.
func word(text, after string) string {
	f := strings.Fields(text)
	for i := range len(f) - 1 {
		if f[i] == after {
			return f[i+1]
		}
	}
	return ""
}
