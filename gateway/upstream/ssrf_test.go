package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"
)

// What an address is for a host of which nothing is known.
const (
	public   = "public"   // any host may stand there
	private  = "private"  // only a named host
	metadata = "metadata" // nobody, unless the range is listed
)

// addressTable is the table of E2.
func addressTable() []struct{ address, want string } {
	return []struct{ address, want string }{
		{"8.8.8.8", public}, {"1.1.1.1", public}, {"93.184.216.34", public}, {"223.255.255.255", public},
		{"2606:4700::1111", public}, {"2a00:1450:4001::1", public}, {"2001:4860:4860::8888", public}, {"2001:200::1", public},
		{"64:ff9b::8.8.8.8", public}, // NAT64 to a public address

		{"0.0.0.0", private}, {"0.1.2.3", private}, {"10.0.0.1", private}, {"10.255.255.255", private},
		{"100.64.0.1", private}, {"100.127.255.254", private}, {"127.0.0.1", private}, {"127.1.2.3", private},
		{"172.16.0.1", private}, {"172.31.255.254", private}, {"192.0.0.1", private}, {"192.0.2.1", private},
		{"192.88.99.1", private}, {"192.168.0.1", private}, {"198.18.0.1", private}, {"198.19.255.254", private},
		{"198.51.100.1", private}, {"203.0.113.1", private}, {"224.0.0.1", private}, {"239.255.255.255", private},
		{"240.0.0.1", private}, {"255.255.255.255", private},
		{"::", private}, {"::1", private}, {"::2", private}, {"::127.0.0.1", private}, {"::10.0.0.1", private},
		{"::ffff:127.0.0.1", private}, {"::ffff:10.0.0.1", private}, {"::ffff:8.8.8.8", public}, {"::ffff:0:127.0.0.1", private},
		{"64:ff9b::127.0.0.1", private}, {"64:ff9b::10.0.0.1", private}, {"64:ff9b::192.168.1.1", private},
		{"64:ff9b:1::8.8.8.8", private}, {"64:ff9b:1:ffff::1", private},
		{"100::1", private}, {"100:0:0:1::1", private}, {"2001::1", private}, {"2001:10::1", private}, {"2001:20::1", private},
		{"2001:db8::1", private}, {"2001:1ff:ffff::1", private}, {"2002::1", private}, {"2002:7f00:1::", private},
		{"2002:0808:0808::1", private}, {"3fff::1", private}, {"3fff:fff::1", private}, {"3fff:1000::1", public},
		{"4000::1", private}, {"5f00::1", private}, {"fc00::1", private}, {"fd12:3456::1", private}, {"fec0::1", private},
		{"ff02::1", private}, {"ff0e::1", private},
		{"2606:4700::5efe:10.0.0.1", private}, {"2606:4700::5efe:8.8.8.8", public}, // ISATAP

		{"169.254.0.1", metadata}, {"169.254.169.254", metadata}, {"169.254.170.2", metadata}, {"100.100.100.200", metadata},
		{"168.63.129.16", metadata}, {"192.0.0.192", metadata},
		{"fe80::1", metadata}, {"fe80::1%eth0", metadata}, {"febf::1", metadata}, {"fd00:ec2::254", metadata}, {"fd20:ce::254", metadata},
		{"fd00:c1::a9fe:a9fe", metadata}, {"fd00:42::42", metadata},
		{"::ffff:169.254.169.254", metadata}, {"::169.254.169.254", metadata}, {"::ffff:0:169.254.169.254", metadata},
		{"64:ff9b::169.254.169.254", metadata}, {"64:ff9b:1::169.254.169.254", metadata}, {"64:ff9b:1:a9fe:a9:fe00::", metadata},
		{"2002:a9fe:a9fe::1", metadata}, {"2001:0:a9fe:a9fe::1", metadata},
		{"2001:0:808:808:0:0:5601:5601", metadata}, // Teredo: the client's address is inverted
		{"2606:4700::5efe:169.254.169.254", metadata}, {"2606:4700::200:5efe:169.254.169.254", metadata},

		// Each differs in one place from what is special.
		{"2000:100::1", public}, {"2601:100::1", public}, {"2601:db8::1", public}, {"2000:db8::1", public}, {"2001:dba::1", public}, {"2001:eb8::1", public},
		{"3f00:100::1", public}, {"20ff:100::1", public},
		{"2606:4700::5eff:169.254.169.254", public}, {"2606:4700::5ffe:169.254.169.254", public},
		{"2606:4700::1:5efe:169.254.169.254", public}, {"2606:4700::100:5efe:169.254.169.254", public},
		{"0:0:0:0:ff00:0:a9fe:a9fe", private}, {"0:0:0:0:ff:0:a9fe:a9fe", private},
	}
}

// TestAddresses is the table of E2: what each address is for a host that the
// operator named, for one that came from a document, and for one that is allowed by its range.
func TestAddresses(t *testing.T) {
	g := newDialPolicy(nil, nil, nil, time.Second)
	for _, c := range addressTable() {
		address := netip.AddrPortFrom(netip.MustParseAddr(c.address), 80).String()
		got := public
		switch {
		case g.named.Control("tcp", address, nil) != nil:
			got = metadata
		case g.public.Control("tcp", address, nil) != nil:
			got = private
		}
		if got != c.want {
			t.Errorf("%s is %s, want %s", c.address, got, c.want)
		}
		a := netip.MustParseAddr(c.address).WithZone("").Unmap()
		listed := newDialPolicy(nil, nil, []netip.Prefix{netip.PrefixFrom(a, a.BitLen())}, time.Second)
		if err := listed.public.Control("tcp", address, nil); err != nil {
			t.Errorf("%s, listed: %v", c.address, err)
		}
	}
}

// TestAllowedRanges: a wide range is no permission for the metadata service that lies in it; who wants that names it (E1).
func TestAllowedRanges(t *testing.T) {
	for _, c := range []struct {
		allowed, address string
		want             bool
	}{
		{"0.0.0.0/0", "10.1.2.3", true},
		{"0.0.0.0/0", "127.0.0.1", true},
		{"0.0.0.0/0", "169.254.169.254", false},
		{"0.0.0.0/0", "::ffff:169.254.169.254", false},
		{"0.0.0.0/0", "100.100.100.200", false},
		{"100.64.0.0/10", "100.100.100.200", false},
		{"100.64.0.0/10", "100.100.100.201", true},
		{"100.100.100.200/32", "100.100.100.200", true},
		{"169.254.0.0/16", "169.254.169.254", true},
		{"169.254.169.0/24", "169.254.169.254", true},
		{"169.254.0.0/15", "169.254.169.254", false},
		{"::/0", "fd12::1", true},
		{"::/0", "fd00:ec2::254", false},
		{"::/0", "64:ff9b::a9fe:a9fe", false},
		{"64:ff9b::/96", "64:ff9b::a9fe:a9fe", false},
		{"64:ff9b::a9fe:a9fe/128", "64:ff9b::a9fe:a9fe", true},
		{"fd00::/8", "fd00:ec2::254", false},
		{"fd00::/8", "fd00:ec2::23", false},
		{"fd00:ec2::23/128", "fd00:ec2::23", true},
		{"fe80::/64", "fe80::1", true},
	} {
		g := newDialPolicy(nil, nil, []netip.Prefix{netip.MustParsePrefix(c.allowed)}, time.Second)
		err := g.public.Control("tcp", netip.AddrPortFrom(netip.MustParseAddr(c.address), 80).String(), nil)
		if got := err == nil; got != c.want {
			t.Errorf("%s with %s: %v, want %v", c.address, c.allowed, got, c.want)
		}
	}
}

// TestGuardedDial connects, or not, by what the operator said of the host.
func TestGuardedDial(t *testing.T) {
	u := listen(t, func(net.Conn) {})
	port := u.Port()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, c := range []struct {
		host    string
		named   []string
		allowed []netip.Prefix
		want    string
	}{
		{"127.0.0.1", nil, nil, "refused"},
		{"127.0.0.1", []string{"127.0.0.1"}, nil, "connected"},
		{"127.0.0.1", []string{"::ffff:127.0.0.1"}, nil, "connected"},
		{"::ffff:127.0.0.1", []string{"127.0.0.1"}, nil, "connected"},
		{"127.0.0.1", nil, loopback, "connected"},
		{"127.0.0.1", []string{"localhost"}, nil, "refused"},
		{"localhost", nil, nil, "refused"},
		{"localhost", []string{"LocalHost."}, nil, "connected"},
		{"LOCALHOST", []string{"localhost"}, nil, "connected"},
		{"metadata.google.internal", nil, loopback, "refused"},
		{"metadata", nil, nil, "refused"},
	} {
		conn, err := newDialPolicy(c.named, nil, c.allowed, time.Second).dial(t.Context(), "tcp", net.JoinHostPort(c.host, port))
		got := "connected"
		if err != nil {
			got = sendKind(t.Context(), err).String()
		} else {
			conn.Close()
		}
		if got != c.want {
			t.Errorf("%s with %v and %v: %s (%v), want %s", c.host, c.named, c.allowed, got, err, c.want)
		}
	}
	// A document's own servers may be private, but a document never leads to metadata, however it spells the way (E1, S7).
	documents := []string{"127.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "fd00:ec2::254", "64:ff9b::a9fe:a9fe",
		"2002:a9fe:a9fe::1", "::ffff:169.254.169.254", "metadata.google.internal", "metadata"}
	for _, host := range documents {
		conn, err := newDialPolicy(nil, documents, nil, time.Second).dial(t.Context(), "tcp", net.JoinHostPort(host, port))
		got, want := "connected", "refused"
		if err != nil {
			got = sendKind(t.Context(), err).String()
		} else {
			conn.Close()
		}
		if host == "127.0.0.1" {
			want = "connected"
		}
		if got != want {
			t.Errorf("%s as a document's server: %s (%v), want %s", host, got, err, want)
		}
	}
	// However an address is spelled, nothing but what the operator named is reached.
	for _, host := range []string{
		"127.1", "127.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.0.0.01",
		"0", "0.0.0.0", "::", "::1", "::ffff:7f00:1", "[::1]", "localhost.", "127.0.0.1.", "①②⑦.0.0.1",
	} {
		conn, err := newDialPolicy(nil, nil, nil, time.Second).dial(t.Context(), "tcp", fmt.Sprintf("[%s]:%s", host, port))
		if err == nil {
			conn.Close()
			t.Errorf("%s: connected", host)
		}
	}
}

// TestHostKey: one host is one key, however it is spelled.
func TestHostKey(t *testing.T) {
	for spelled, want := range map[string]string{
		"Orders.Internal": "orders.internal", "orders.internal.": "orders.internal", "[::1]": "::1", "[::FFFF:127.0.0.1]": "127.0.0.1",
		"::ffff:127.0.0.1": "127.0.0.1", "0:0:0:0:0:0:0:1": "::1", "127.1": "127.1",
	} {
		if got := hostKey(spelled); got != want {
			t.Errorf("%s is %s, want %s", spelled, got, want)
		}
	}
}

// TestNamedMetadata: what the operator names himself is called, whatever it is; a document's name for it is not.
func TestNamedMetadata(t *testing.T) {
	g := newDialPolicy([]string{"Metadata.Google.Internal.", "[FD00:EC2::254]", "169.254.169.254"}, []string{"metadata"}, nil, time.Second)
	for host, want := range map[string]trust{
		"metadata.google.internal": namedHost, "fd00:ec2::254": literalHost, "169.254.169.254": literalHost, "metadata": documentHost, "metadata.goog": publicOnly,
	} {
		if got := g.hosts[host]; got != want {
			t.Errorf("the trust in %s is %d, want %d", host, got, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // so that nothing is resolved
	for host, want := range map[string]Kind{"metadata.google.internal": Connect, "metadata": Refused, "metadata.goog": Refused} {
		_, err := g.dial(ended, "tcp", host+":80")
		var failed *dialError
		if !errors.As(err, &failed) || failed.kind != want {
			t.Errorf("%s: %v, want the kind %s", host, err, want)
		}
	}
	if err := g.public.Control("tcp", "no address", nil); err == nil {
		t.Error("what is no address is dialled")
	}
}

// TestGuardDialers: all three dialers have the same limits, and those of hosts that were not named as addresses look at what is dialed.
func TestGuardDialers(t *testing.T) {
	g := newDialPolicy(nil, nil, nil, 3*time.Second)
	for name, d := range map[string]net.Dialer{"literal": g.literal, "named": g.named, "public": g.public} {
		if d.Timeout != 3*time.Second || d.KeepAlive != 30*time.Second || (d.Control == nil) != (name == "literal") {
			t.Errorf("%s: %v, %v, looks: %t", name, d.Timeout, d.KeepAlive, d.Control != nil)
		}
	}
}
