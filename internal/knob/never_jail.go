package knob

import "linerate/internal/setting"

// Never returns why no FreeBSD jail supports a setting, whatever its kernel; "" if
// one may. Target.Apply checks what depends on kernel, modules and permission.
func Never(s setting.Setting) string {
	switch s.Mechanism {
	case setting.NFT:
		return "nftables is Linux's; a study that says firewall: instead runs here too"
	case setting.NAPI:
		return "NAPI is Linux's"
	case setting.PolicyRules:
		return "rules of policy routing are Linux's"
	case setting.Forward:
		if s.Name != setting.ForwardBridge {
			return "FreeBSD has no such way of forwarding"
		}
		return ""
	case setting.Sysctl, setting.Firewall, setting.Link, setting.Routes, setting.Command:
		return ""
	}
	return "it cannot be set in a jail of FreeBSD yet"
}
