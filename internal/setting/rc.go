package setting

import "strings"

// RCEffect is the sysctl that a variable of FreeBSD's rc.conf stands for on the
// running host, and its value; false where a variable takes effect only when
// its service starts, or is no yes and no no. Source: libexec/rc/rc.d/routing.
func RCEffect(variable, value string) (sysctl, to string, ok bool) {
	switch variable {
	case "gateway_enable":
		sysctl = "net.inet.ip.forwarding"
	case "ipv6_gateway_enable":
		sysctl = "net.inet6.ip6.forwarding"
	default:
		return "", "", false
	}
	switch strings.ToLower(value) { // as checkyesno of rc.subr(8)
	case "yes", "true", "on", "1":
		return sysctl, "1", true
	case "no", "false", "off", "0":
		return sysctl, "0", true
	}
	return "", "", false
}
