package calc

const netflix = "Netflix, Serving 100 Gbps from an Open Connect Appliance (2017)"

var ifQueue = &Calculator{
	Name: "ifqueue", Aliases: []string{"ifqmaxlen"},
	Summary: "queue length that holds a time's worth of packets, and the delay it causes",
	Inputs: []Input{linkInput,
		{Name: "time", Unit: Seconds, Default: "50ms", Doc: "what the queue shall hold"},
		{Name: "packet", Unit: Bytes, Default: "1460B", Doc: "packet size; the guide takes the MSS"}},
	Sources: []string{"FreeBSD sys/net/if.c (net.link.ifqmaxlen, default 50)", "RFC 8290 (on delay)"},
	Notes:   []Note{{Who: guide, Says: "60 Mb/s need 256.84 packets for 50 ms", Truth: "right for 1460-byte packets without their headers; iflib's and other multi-queue drivers keep packets in their own rings and never look at ifqmaxlen"}},
	Vectors: []Vector{
		{In: map[string]string{"link": "60M", "time": "50ms", "packet": "1460"}, Want: map[string]float64{"packets": 256.8493150684931}, From: guide},
	},
	run: func(in map[string]float64) ([]Output, error) {
		if in["packet"] < 1 {
			return nil, tooSmall("packet", in["packet"], "1 byte or more")
		}
		n := QueueLength(in["link"], in["time"], in["packet"])
		return []Output{
			num("packets", n, Count, "link · time / 8 / packet"),
			num("delay_of_2048", QueueDelay(2048, 1518, in["link"]), Seconds, "what a full queue of 2048 frames of 1518 bytes adds"),
			num("memory", n*mClBytes, Bytes, "clusters a full queue holds"),
		}, nil
	},
}

var serving = &Calculator{
	Name: "serving", Aliases: []string{"serve", "netflix"},
	Summary: "what filling a link with files costs: pages, mbufs, copies, memory bandwidth",
	Inputs: []Input{
		{Name: "rate", Unit: BitsPerSecond, Default: "100Gb/s", Doc: "file data served"},
		{Name: "tls", Unit: Count, Default: "1", Doc: "1 with TLS in software, 0 without"},
		{Name: "bypass", Unit: Count, Default: "1", Doc: "1 when encryption stores past the cache, 0 when it reads before writing"},
		{Name: "bandwidth", Unit: BytesPerSecond, Default: "60GB/s", Doc: "memory bandwidth of the machine"}},
	Sources: []string{netflix, "RFC 8446 §5.1"},
	Notes: []Note{
		{Who: netflix, Says: "100 Gb/s is 12.5 GB/s of pages, 25 GB/s with encryption, 6.25 million mbufs/s", Truth: "6.10 million with pages of 4096 bytes; 6.25 takes 4000"},
		{Who: netflix, Says: "TLS framing adds 1.6 million mbufs/s, 8 million in all, 1 GB/s of cache lines", Truth: "1.53 million for records of 16384 bytes, 7.63 million in all, 0.98 GB/s: rounded up, and right"},
		{Who: netflix, Says: "stores that bypass the cache raised 58 to 65 Gb/s", Truth: "12 %; the data's own traffic falls from 5 to 4 crossings, so at most 25 %: the rest of the traffic did not change"},
	},
	Vectors: []Vector{
		{In: map[string]string{"rate": "100G", "tls": "1"}, Want: map[string]float64{"payload": 12.5e9, "page_traffic": 25e9, "page_mbufs": 6103515.625, "record_mbufs": 1525878.90625, "mbuf_traffic": 976562500}, From: netflix},
		{In: map[string]string{"rate": "100G", "tls": "1"}, Want: map[string]float64{"page_mbufs": 6.25e6, "record_mbufs": 1.6e6, "mbufs": 8e6, "mbuf_traffic": 1e9}, Tolerance: 0.05, From: netflix + ", rounded as there"},
		{In: map[string]string{"rate": "100G", "tls": "0"}, Want: map[string]float64{"memory_traffic": 25e9, "record_mbufs": 0}, From: "arithmetic"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		tls, bypass := yes(in["tls"]), yes(in["bypass"])
		s := ServeCost(in["rate"], tls, bypass)
		return []Output{
			num("payload", s.Payload, BytesPerSecond, "file data"),
			num("pages", s.Pages, PerSecond, "4 KiB pages handled, encrypted copies counted"),
			num("page_traffic", s.Pages*pageSize, BytesPerSecond, "the same in bytes"),
			num("page_mbufs", s.PageMbufs, PerSecond, "mbufs that carry a page"),
			num("record_mbufs", s.RecordMbufs, PerSecond, "mbufs for TLS headers and trailers, two per 16 KiB record"),
			num("mbufs", s.PageMbufs+s.RecordMbufs, PerSecond, "all mbufs"),
			num("mbuf_traffic", s.MbufTraffic, BytesPerSecond, "two cache lines per mbuf, per layer that touches it"),
			num("data_copies", DataCopies(tls, bypass), Count, "times each byte crosses the memory bus"),
			num("memory_traffic", s.MemoryTraffic, BytesPerSecond, "the data's own memory traffic"),
			num("rate_limit", ServeLimit(in["bandwidth"], tls, bypass), BitsPerSecond, "rate at which the data alone fills this memory bandwidth"),
		}, nil
	},
}

var zfsDirty = &Calculator{
	Name: "zfs-dirty", Aliases: []string{"zfs"},
	Summary: "ZFS dirty data against link and drive speed",
	Inputs: []Input{
		{Name: "memory", Unit: Bytes, Default: "64GiB", Doc: "the host's memory"},
		{Name: "dirty_max", Unit: Bytes, Default: "4GiB", Doc: "vfs.zfs.dirty_data_max"},
		{Name: "sync_percent", Unit: Percent, Default: "20%", Doc: "vfs.zfs.dirty_data_sync_percent"},
		{Name: "timeout", Unit: Seconds, Default: "5s", Doc: "vfs.zfs.txg.timeout"},
		{Name: "ingest", Unit: BytesPerSecond, Default: "118MB/s", Doc: "what the network brings"},
		{Name: "drive", Unit: BytesPerSecond, Default: "2GB/s", Doc: "what the pool writes"}},
	Sources: []string{"OpenZFS module/zfs/arc.c (arc_init)", "OpenZFS module/zfs/dsl_pool.c"},
	Notes: []Note{
		{Who: guide, Says: "25 % of 64 GB is 16MB", Wrong: true, Truth: "16 GiB: a slip of the unit; the value below it is right"},
		{Who: guide, Says: "118 MB/s for 75 s are 8.85 GB", Truth: "right"},
		{Who: guide, Says: "95 % of dirty_data_max is 15.2 GB, and 14.16 GB are written at 2.62 GB/s in 5 s", Wrong: true, Truth: "95 % of 16 GiB are 16.3 GB (15.2 GiB), which take 6.2 s at 2.62 GB/s and 8.4 s at 1.95 GB/s; and up to 75 s of acknowledged asynchronous writes are lost in a crash"},
	},
	Vectors: []Vector{
		{In: map[string]string{"memory": "64GiB", "dirty_max": "16GiB", "sync_percent": "95", "timeout": "75s", "ingest": "118MB/s", "drive": "2.62GB/s"}, Want: map[string]float64{"fill": 8.85e9, "sync_at": 16320875724.8, "drain": 6.2294}, Tolerance: 1e-4, From: guide},
		{In: map[string]string{"memory": "64GiB"}, Want: map[string]float64{"default_max_max": 4 << 30, "default_max": 4 << 30}, From: "OpenZFS"},
	},
	run: func(in map[string]float64) ([]Output, error) {
		if in["drive"] <= 0 || in["ingest"] <= 0 {
			return nil, tooSmall("drive or ingest", min(in["drive"], in["ingest"]), "a speed such as 500MB/s")
		}
		syncAt := in["dirty_max"] * in["sync_percent"] / 100
		return []Output{
			num("default_max_max", DirtyMaxMax(in["memory"]), Bytes, "vfs.zfs.dirty_data_max_max by default: 25 % of memory, at most 4 GiB"),
			num("default_max", DirtyMax(in["memory"], DirtyMaxMax(in["memory"])), Bytes, "vfs.zfs.dirty_data_max by default: 10 % of memory, at most the above"),
			num("fill", DirtyFill(in["ingest"], in["timeout"]), Bytes, "arrives within the timeout"),
			num("sync_at", syncAt, Bytes, "dirty data that starts a write before the timeout"),
			num("drain", DirtyDrain(in["dirty_max"], in["sync_percent"], in["drive"]), Seconds, "time to write that much"),
			num("ends_group", min(in["timeout"], syncAt/in["ingest"]), Seconds, "when a transaction group ends: timer or dirty data, whichever is first"),
		}, nil
	},
}
