package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"linerate/internal/labtest"
	"linerate/internal/plan"
	"linerate/internal/setting"
)

// tunedScript runs a tuned of its own, with a bus, an /etc and a network namespace of its
// own, has it set a profile, and asks it whether all is as the profile says: before and
// after one setting has drifted.
const tunedScript = `
set -e
mount -t tmpfs none /run
mkdir -p /run/tuned /run/etc/up /run/etc/work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc/up,workdir=/run/etc/work /etc
for at in /etc/tuned/linerate /etc/tuned/profiles/linerate; do mkdir -p $at; cp "$PROFILE" $at/tuned.conf; done
echo linerate > /etc/tuned/active_profile
echo manual > /etc/tuned/profile_mode
bus=$(dbus-daemon --session --address=unix:path=/run/bus --fork --print-pid)
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/bus
tuned -l /run/log -P /run/pid > /run/out 2>&1 & tuned=$!
trap 'kill $tuned $bus' EXIT
# tuned-adm answers from files too, where no daemon is: only the bus knows that it is up.
n=0
until dbus-send --bus=unix:path=/run/bus --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:com.redhat.tuned 2>/dev/null | grep -q 'boolean true'; do
	n=$((n+1)); [ $n -lt 600 ]; sleep 0.1
done
tuned-adm profile linerate
cat /proc/sys/net/ipv4/tcp_slow_start_after_idle
tuned-adm verify
echo 1 > /proc/sys/net/ipv4/tcp_slow_start_after_idle
if tuned-adm verify; then echo "drift is not seen"; exit 1; fi
echo "passed: $(grep -c 'verify: passed' /run/log)"
`

// TestTunedVerifies: tuned itself takes the profile, sets what it says, and finds it so.
func TestTunedVerifies(t *testing.T) {
	labtest.Namespaces(t)
	for _, tool := range []string{"tuned", "tuned-adm", "dbus-daemon", "dbus-send", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			labtest.Lacking(t, "%v", err)
		}
	}
	p := plan.Plan{Version: plan.Version, OS: "linux", Role: "web"}
	for name, value := range map[string]string{"net.ipv4.tcp_slow_start_after_idle": "0", "net.ipv4.tcp_fin_timeout": "30", "net.ipv4.ip_local_port_range": "1024 65000"} {
		p.Settings = append(p.Settings, plan.Step{Name: name, Mechanism: setting.Sysctl, Value: value, Reason: "it is set for a test", Risk: "none",
			Where: plan.Where{File: plan.LinuxSysctl, Runtime: true}})
	}
	text, err := Write(p, "tuned")
	if err != nil {
		t.Fatal(err)
	}
	profile := filepath.Join(t.TempDir(), "tuned.conf")
	if err := os.WriteFile(profile, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "--net", "sh", "-c", tunedScript)
	cmd.Env = append(os.Environ(), "PROFILE="+profile)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\nof\n%s", err, out, text)
	}
	if !strings.Contains(string(out), "succeeded") || !strings.Contains(string(out), "Verification failed") || !strings.Contains(string(out), "passed: 5\n") {
		t.Errorf("three settings, verified twice, one of them drifted:\n%s", out)
	}
}
