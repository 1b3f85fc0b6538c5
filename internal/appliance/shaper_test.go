package appliance

import (
	"fmt"
	"testing"
)

// shapes returns the shapers of a configuration in short form.
func shapes(c Config) []string {
	var all []string
	for _, s := range c.Shapers {
		text := fmt.Sprintf("%s:%d %s on=%v", s.Name, s.Line.Number, s.Scheduler, s.Enabled)
		if s.Bandwidth != nil {
			text += fmt.Sprint(" ", *s.Bandwidth)
		}
		if s.Download != nil {
			text += fmt.Sprint(" down ", *s.Download)
		}
		if s.Used != nil {
			text += fmt.Sprint(" used=", *s.Used)
		}
		all = append(all, fmt.Sprintf("%s %g/%g/%d/%d at %s", text, s.TargetMS, s.IntervalMS, s.Quantum, s.Limit, s.Line.Place))
	}
	return all
}

// TestPipes: queues connect rules with pipes, and disabled ones do not count.
func TestPipes(t *testing.T) {
	c := read(t, "opnsense", "/conf/config.xml", `<opnsense><OPNsense><TrafficShaper version="1.0.3"><pipes>
<pipe uuid="1"><number>10000</number><enabled>1</enabled><bandwidth>85</bandwidth><bandwidthMetric>Mbit</bandwidthMetric><queue/><scheduler>fq_codel</scheduler><codel_enable>0</codel_enable><codel_target>6</codel_target><fqcodel_quantum>300</fqcodel_quantum></pipe>
<pipe uuid="2"><number>10001</number><enabled>1</enabled><bandwidth>512</bandwidth><bandwidthMetric>Kbit</bandwidthMetric><scheduler/><codel_target>9</codel_target></pipe>
</pipes><queues><queue uuid="3"><enabled>1</enabled><pipe>1</pipe></queue><queue uuid="4"><enabled>0</enabled><pipe>2</pipe></queue></queues>
<rules><rule><enabled>1</enabled><target>3</target></rule><rule><enabled>1</enabled><target>4</target></rule><rule><enabled>0</enabled><target>2</target></rule></rules></TrafficShaper></OPNsense></opnsense>`)
	same(t, shapes(c), []string{"shaper/pipe/10000:2 fq_codel on=true 85000000 used=true 6/0/300/0 at Firewall ▸ Shaper ▸ Pipes: 10000",
		"shaper/pipe/10001:3  on=true 512000 used=false 0/0/0/0 at Firewall ▸ Shaper ▸ Pipes: 10001"})
	c = read(t, "opnsense", "/conf/config.xml", `<opnsense><OPNsense><TrafficShaper><pipes><pipe><number>1</number><bandwidth>x</bandwidth></pipe></pipes><rules><rule><enabled>1</enabled></rule></rules></TrafficShaper></OPNsense></opnsense>`)
	same(t, shapes(c), []string{"shaper/pipe/1:1  on=false 0/0/0/0 at Firewall ▸ Shaper ▸ Pipes: 1"})
}

func TestLimiters(t *testing.T) {
	c := read(t, "pfsense", "/conf/config.xml", `<pfsense><dnshaper><queue><name>Down</name><number>1</number><enabled>on</enabled>
<bandwidth><item><bw>1.5</bw><bwscale>Mb</bwscale><bwsched>none</bwsched></item></bandwidth><aqm>codel</aqm><param_codel_target>5</param_codel_target><param_codel_interval>100</param_codel_interval><sched>wf2q+</sched>
<queue><name>DownQ</name><number>1</number></queue></queue></dnshaper></pfsense>`)
	same(t, shapes(c), []string{"shaper/pipe/1:1 wf2q+ on=true 1500000 used=false 5/100/0/0 at Firewall ▸ Traffic Shaper ▸ Limiters: the limiter of number 1"})
}

// TestNoRuleLimits: rules refer to limiters by the user's names; if no rule does, that is known.
func TestNoRuleLimits(t *testing.T) {
	const limiter = `<dnshaper><queue><name>Down</name><number>1</number><enabled>on</enabled></queue></dnshaper>`
	for rules, used := range map[string]bool{``: false, `<rule><dnpipe>x</dnpipe></rule>`: true, `<rule><pdnpipe>x</pdnpipe></rule>`: true, `<rule><disabled/><dnpipe>x</dnpipe></rule><rule><dnpipe/></rule>`: false} {
		c := read(t, "pfsense", "/conf/config.xml", `<pfsense><filter>`+rules+`</filter>`+limiter+`</pfsense>`)
		if len(c.Shapers) != 1 || (c.Shapers[0].Used == nil) != used {
			t.Errorf("%s: %+v", rules, c.Shapers)
		}
	}
}

// TestALTQ: an interface's queues need a default one, at any depth; CODELQ has none.
func TestALTQ(t *testing.T) {
	c := read(t, "pfsense", "/conf/config.xml", `<pfsense><interfaces><wan><if>igb0</if></wan><lan><if>igb1</if></lan></interfaces><shaper>
<queue><interface>wan</interface><name>wan</name><scheduler>HFSC</scheduler><bandwidth>90</bandwidth><bandwidthtype>Mb</bandwidthtype><enabled>on</enabled><qlimit>500</qlimit>
<queue><name>a</name><bandwidth>20</bandwidth><bandwidthtype>%</bandwidthtype><queue><name>b</name><default>default</default></queue></queue></queue>
<queue><interface>lan</interface><scheduler>PRIQ</scheduler><bandwidth>50</bandwidth><bandwidthtype>%</bandwidthtype><enabled/><queue><name>c</name></queue></queue>
<queue><interface>opt1</interface><scheduler>CODELQ</scheduler><enabled>on</enabled></queue></shaper></pfsense>`)
	same(t, shapes(c), []string{"shaper/altq/wan:2 hfsc on=true 90000000 used=true 0/0/0/500 at Firewall ▸ Traffic Shaper ▸ By Interface: WAN",
		"shaper/altq/lan:4 priq on=false used=false 0/0/0/0 at Firewall ▸ Traffic Shaper ▸ By Interface: LAN",
		"shaper/altq/opt1:5 codelq on=true 0/0/0/0 at Firewall ▸ Traffic Shaper ▸ By Interface: OPT1"})
	if c.Shapers[0].Device != "igb0" || c.Shapers[2].Device != "" {
		t.Errorf("%+v", c.Shapers)
	}
}

func TestSQM(t *testing.T) {
	c := read(t, "openwrt", "/etc/config/sqm", "config queue 'wan'\n\toption enabled '1'\n\toption interface 'eth1'\n\toption download '85000'\n\toption upload '0'\n\toption qdisc 'cake'\n\toption overhead '-4'\nconfig queue\n\toption enabled '0'\n\toption download 'x'\n")
	same(t, shapes(c), []string{"sqm/wan:2 cake on=true 0 down 85000000 0/0/0/0 at Network ▸ SQM QoS: uci sqm.wan",
		"sqm/@queue[1]:9  on=false 0/0/0/0 at Network ▸ SQM QoS: uci sqm.@queue[1]"})
	if c.Shapers[0].Overhead == nil || *c.Shapers[0].Overhead != -4 || c.Shapers[0].Device != "eth1" {
		t.Errorf("%+v", c.Shapers[0])
	}
}

// TestPolicies: a policy counts if an interface uses it; with two flow tables it is unknown which port is in which.
func TestPolicies(t *testing.T) {
	c := read(t, "vyos", "/config/config.boot", "qos {\n    policy {\n        shaper WAN {\n            bandwidth 30mbit\n            default {\n                bandwidth 100%\n            }\n        }\n    }\n}\n")
	same(t, shapes(c), []string{"qos/policy/shaper:4 shaper on=true 30000000 used=false 0/0/0/0 at set qos policy shaper WAN bandwidth"})
	set := "set qos policy shaper WAN bandwidth 30mbit\nset qos interface eth0 egress WAN\nset firewall flowtable A interface eth0\nset firewall flowtable A offload hardware\n"
	for more, want := range map[string]bool{"": true, "set firewall flowtable B offload software\n": false} {
		c = read(t, "vyos", "/config/config.boot", set+more)
		if len(c.Shapers) != 1 || c.Shapers[0].Offloaded != want {
			t.Errorf("%q: %+v", more, c.Shapers)
		}
	}
}
