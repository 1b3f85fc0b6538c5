package benchlab

import (
	"strings"
	"testing"
)

func TestParseConfig(t *testing.T) {
	c, err := ParseConfig("lab.config", []byte("DUT_ADMIN=\"192.0.2.9\" # the box\nSENDER_ADMIN=a\n: ${N:=\"3\"}\n: ${M=\"4\"}\nN_IS=\"n ${N} $M\"\nrm -rf /\nX=$(id)\nSENDER_START_CMD=\"sudo pkt-gen -f tx -i ix0 -n 10 -l 60 \\\n -6 -s [2001:2::1]:2000-[2001:2::3]:2001 -d [2001:2:0:8000::1]:9-[2001:2:0:8000::5] -R 1000\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Vars["DUT_ADMIN"] != "192.0.2.9" || c.Vars["N_IS"] != "n 3 4" || len(c.Notes) != 2 || c.Vars["X"] != "" {
		t.Errorf("%v, notes %q", c.Vars, c.Notes)
	}
	o, ok := c.Sends()
	if !ok || o.Interface != "ix0" || !o.IPv6 || o.Size != 64 || o.PPS != 1000 || o.Sources.Addresses() != 3 || o.Sources.LastPort-o.Sources.FirstPort != 1 || o.Destination.Addresses() != 5 {
		t.Errorf("%v %+v", ok, o)
	}
	if _, err := ParseConfig("x", []byte("A=b\n")); err == nil || !strings.Contains(err.Error(), "x sets no DUT_ADMIN") {
		t.Error(err)
	}
}

// TestAnotherGenerator: what is said of pkt-gen's command is not said of another's.
func TestAnotherGenerator(t *testing.T) {
	for command, want := range map[string]bool{"equilibrium -4 -u -t igb1 -r igb2": false, "pkt-gen -f tx -i igb1 -l 43": true, "pkt-gen -f tx -i igb1": false} {
		c, err := ParseConfig("lab.config", []byte("DUT_ADMIN=a\nSENDER_ADMIN=b\nSENDER_START_CMD=\""+command+"\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(Translate("x", c, []Set{{Name: "a"}, {Name: "b"}}).Notes, "\n")
		if strings.Contains(notes, "shorter than Ethernet's") != want {
			t.Errorf("%s: %s", command, notes)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("DUT_ADMIN=a\nSENDER_ADMIN=b\nSENDER_START_CMD=\"pkt-gen -s 1.2.3.4:1-1.2.3.9 -d ::1\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig("f", []byte(text))
		if err != nil {
			return
		}
		Translate("fuzz", c, []Set{{Name: "A b"}, {Name: "c"}})
	})
}
