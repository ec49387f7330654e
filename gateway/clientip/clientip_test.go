package clientip

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func trusting(networks ...string) *Resolver {
	c := &Resolver{}
	trusted := make([]netip.Prefix, 0, len(networks))
	for _, n := range networks {
		trusted = append(trusted, netip.MustParsePrefix(n))
	}
	c.trusted.Store(&trusted)
	return c
}

// TestClientAddress finds the caller behind proxies, and is not led astray by callers who write the headers themselves
// (H8; GHSA-3fxj-6jh8-hvhx, GHSA-9g5q-2w5x-hmxf and GHSA-rjr7-jggh-pgcp are what happens otherwise).
func TestClientAddress(t *testing.T) {
	trusted := trusting("10.0.0.0/8", "192.168.7.7/32", "fd00::/8")
	type lines = []string
	hundred := strings.TrimSuffix(strings.Repeat("10.1.2.3, ", 100), ", ")
	for _, tt := range []struct {
		name, peer      string
		list, forwarded lines
		want            string // "": not known
	}{
		{name: "no proxy", peer: "203.0.113.9:1234", want: "203.0.113.9"},
		{name: "a stranger's word", peer: "203.0.113.9:1234", list: lines{"198.51.100.1"}, forwarded: lines{"for=198.51.100.1"}, want: "203.0.113.9"},
		{name: "a proxy that says nothing", peer: "10.0.0.1:80", want: "10.0.0.1"},
		{name: "one proxy", peer: "10.0.0.1:80", list: lines{"198.51.100.1"}, want: "198.51.100.1"},
		{name: "a proxy listed by its address", peer: "192.168.7.7:80", list: lines{"198.51.100.1"}, want: "198.51.100.1"},
		{name: "its neighbour", peer: "192.168.7.8:80", list: lines{"198.51.100.1"}, want: "192.168.7.8"},
		{name: "what the client made up stands left", peer: "10.0.0.1:80", list: lines{"127.0.0.1, 10.9.9.9, 198.51.100.1"}, want: "198.51.100.1"},
		{name: "several proxies", peer: "10.0.0.1:80", list: lines{"1.1.1.1, 198.51.100.1, 10.0.0.3,10.0.0.2"}, want: "198.51.100.1"},
		{name: "a foreign proxy between", peer: "10.0.0.1:80", list: lines{"10.0.0.3, 198.51.100.1, 10.0.0.2"}, want: "198.51.100.1"},
		{name: "a line for each proxy", peer: "10.0.0.1:80", list: lines{"1.1.1.1", "198.51.100.1", "10.0.0.2"}, want: "198.51.100.1"},
		{name: "all of the house", peer: "10.0.0.1:80", list: lines{"10.0.0.3, 10.0.0.2"}, want: "10.0.0.3"},
		{name: "a hundred proxies", peer: "10.0.0.1:80", list: lines{"198.51.100.1, " + hundred}, want: "198.51.100.1"},
		{name: "a hundred lines", peer: "10.0.0.1:80", list: append(lines{"198.51.100.1"}, strings.Split(hundred, ", ")...), want: "198.51.100.1"},
		{name: "with a port", peer: "10.0.0.1:80", list: lines{"198.51.100.1:4711"}, want: "198.51.100.1"},
		{name: "no space", peer: "10.0.0.1:80", list: lines{"1.1.1.1,198.51.100.1"}, want: "198.51.100.1"},
		{name: "tabs", peer: "10.0.0.1:80", list: lines{"1.1.1.1,\t198.51.100.1 "}, want: "198.51.100.1"},
		{name: "IPv6", peer: "[fd00::1]:80", list: lines{"2001:db8::7"}, want: "2001:db8::7"},
		{name: "IPv6 in brackets", peer: "[fd00::1]:80", list: lines{"[2001:db8::7]"}, want: "2001:db8::7"},
		{name: "IPv6 with a port", peer: "[fd00::1]:80", list: lines{"[2001:db8::7]:4711"}, want: "2001:db8::7"},
		{name: "IPv4 in IPv6", peer: "[::ffff:10.0.0.1]:80", list: lines{"::ffff:198.51.100.1, ::ffff:10.0.0.2"}, want: "198.51.100.1"},
		{name: "a zone of the peer", peer: "[fe80::1%eth0]:80", list: lines{"198.51.100.1"}, want: "fe80::1"},
		{name: "a zone", peer: "10.0.0.1:80", list: lines{"fe80::1%eth0"}, want: "10.0.0.1"},
		{name: "garbage", peer: "10.0.0.1:80", list: lines{"198.51.100.1, <script>"}, want: "10.0.0.1"},
		{name: "garbage behind a good hop", peer: "10.0.0.1:80", list: lines{"198.51.100.1, unknown, 10.0.0.2"}, want: "10.0.0.2"},
		{name: "a name", peer: "10.0.0.1:80", list: lines{"localhost"}, want: "10.0.0.1"},
		{name: "odd spellings", peer: "10.0.0.1:80", list: lines{"0x7f.1"}, want: "10.0.0.1"},
		{name: "leading zeros", peer: "10.0.0.1:80", list: lines{"198.051.100.1"}, want: "10.0.0.1"},
		{name: "nobody", peer: "10.0.0.1:80", list: lines{"0.0.0.0"}, want: "10.0.0.1"},
		{name: "many", peer: "10.0.0.1:80", list: lines{"224.0.0.1"}, want: "10.0.0.1"},
		{name: "empty", peer: "10.0.0.1:80", list: lines{""}, want: "10.0.0.1"},
		{name: "an empty item", peer: "10.0.0.1:80", list: lines{"198.51.100.1, "}, want: "10.0.0.1"},
		{name: "an empty line last", peer: "10.0.0.1:80", list: lines{"198.51.100.1", ""}, want: "10.0.0.1"},
		{name: "quotes are no part of the list", peer: "10.0.0.1:80", list: lines{`"198.51.100.1"`}, want: "10.0.0.1"},
		{name: "bad port", peer: "10.0.0.1:80", list: lines{"198.51.100.1:http"}, want: "10.0.0.1"},
		{name: "half a bracket", peer: "10.0.0.1:80", list: lines{"[2001:db8::7"}, want: "10.0.0.1"},
		{name: "IPv4 in brackets", peer: "10.0.0.1:80", list: lines{"[198.51.100.1]"}, want: "10.0.0.1"},
		{name: "text behind the bracket", peer: "10.0.0.1:80", list: lines{"[2001:db8::7]80"}, want: "10.0.0.1"},

		{name: "Forwarded", peer: "10.0.0.1:80", forwarded: lines{"for=198.51.100.1"}, want: "198.51.100.1"},
		{name: "Forwarded, all parameters", peer: "10.0.0.1:80", forwarded: lines{`for=1.1.1.1;by=1.2.3.4, By=10.0.0.1; FOR="198.51.100.1:99" ;host="a,b;for=x";proto=https`}, want: "198.51.100.1"},
		{name: "Forwarded, IPv6", peer: "10.0.0.1:80", forwarded: lines{`for="[2001:db8::7]:4711"`}, want: "2001:db8::7"},
		{name: "Forwarded, a hidden port", peer: "10.0.0.1:80", forwarded: lines{`for="[2001:db8::7]:_x"`}, want: "2001:db8::7"},
		{name: "Forwarded, hidden", peer: "10.0.0.1:80", forwarded: lines{"for=198.51.100.1, for=_SEVKISEK, for=10.0.0.2"}, want: "10.0.0.2"},
		{name: "Forwarded, unknown", peer: "10.0.0.1:80", forwarded: lines{"for=198.51.100.1, for=unknown"}, want: "10.0.0.1"},
		{name: "Forwarded, nobody", peer: "10.0.0.1:80", forwarded: lines{"for=198.51.100.1, proto=https"}, want: "10.0.0.1"},
		{name: "Forwarded, twice", peer: "10.0.0.1:80", forwarded: lines{"for=198.51.100.1;for=198.51.100.2"}, want: "10.0.0.1"},
		{name: "Forwarded, lines", peer: "10.0.0.1:80", forwarded: lines{"for=1.1.1.1", "for=198.51.100.1,for=10.0.0.3", "for=10.0.0.2"}, want: "198.51.100.1"},
		{name: "Forwarded, empty parameters", peer: "10.0.0.1:80", forwarded: lines{"for=198.51.100.1;"}, want: "198.51.100.1"},
		{name: "Forwarded, an open quote to the left", peer: "10.0.0.1:80", forwarded: lines{`for="1.1.1.1, for=198.51.100.1`}, want: "198.51.100.1"},
		{name: "Forwarded, an open quote in a line above", peer: "10.0.0.1:80", forwarded: lines{`for="1.1.1.1`, "for=198.51.100.1"}, want: "198.51.100.1"},
		{name: "Forwarded, an open quote", peer: "10.0.0.1:80", forwarded: lines{`for="198.51.100.1`}, want: "10.0.0.1"},
		{name: "Forwarded, escaped quotes", peer: "10.0.0.1:80", forwarded: lines{`for=1.1.1.1, host="x\", for=2.2.2.2, \\";for="198.51.100.1"`}, want: "198.51.100.1"},
		{name: "Forwarded, text behind the quote", peer: "10.0.0.1:80", forwarded: lines{`for="198.51.100.1"x`}, want: "10.0.0.1"},
		{name: "Forwarded, no pair", peer: "10.0.0.1:80", forwarded: lines{"198.51.100.1"}, want: "10.0.0.1"},

		{name: "both, and they agree", peer: "10.0.0.1:80", list: lines{"198.51.100.1"}, forwarded: lines{`for="198.51.100.1:1"`}, want: "198.51.100.1"},
		{name: "both: the proxy writes the list, the client the other one", peer: "10.0.0.1:80", list: lines{"198.51.100.1"}, forwarded: lines{"for=1.1.1.1"}, want: "10.0.0.1"},
		{name: "both, one of them empty", peer: "10.0.0.1:80", list: lines{"198.51.100.1"}, forwarded: lines{""}, want: "10.0.0.1"},

		{name: "no address", peer: "@", want: ""},
		{name: "in the process", peer: "", list: lines{"198.51.100.1"}, want: ""},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{}}
		if tt.list != nil {
			r.Header["X-Forwarded-For"] = tt.list
		}
		if tt.forwarded != nil {
			r.Header["Forwarded"] = tt.forwarded
		}
		a, ok := trusted.Address(r)
		if got := strings.TrimSuffix(a.String(), "invalid IP"); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %q %v, want %q", tt.name, got, ok, tt.want)
		}
		if a, _ := (&Resolver{}).Address(r); tt.want != "" && !strings.Contains(tt.peer, a.String()) {
			t.Errorf("%s: without trusted proxies %s, want the peer %s", tt.name, a, tt.peer)
		}
	}
}

// FuzzClientAddress lets a caller write whatever he likes in front of what the proxy adds. He is known by his address all
// the same.
func FuzzClientAddress(f *testing.F) {
	for _, s := range []string{"", "1.1.1.1", `for="`, `for="\`, `for=1.1.1.1;host="\\\"`, `"",",`, "[", "for=10.0.0.2", `a="b", "`} {
		f.Add(s, false)
		f.Add(s, true)
	}
	trusted := trusting("10.0.0.0/8")
	want := netip.MustParseAddr("198.51.100.1")
	f.Fuzz(func(t *testing.T, forged string, line bool) {
		for name, added := range map[string]string{"X-Forwarded-For": "198.51.100.1, 10.0.0.2", "Forwarded": `for=198.51.100.1;host="a,b", for="10.0.0.2"`} {
			values := []string{forged + ", " + added}
			if line {
				values = []string{forged, added}
			}
			r := &http.Request{RemoteAddr: "10.0.0.1:80", Header: http.Header{name: values}}
			if got, _ := trusted.Address(r); got != want {
				t.Errorf("%s: %q: %s", name, values, got)
			}
			r.Header[name] = []string{forged} // whatever it says, it must not break anything
			trusted.Address(r)
		}
	})
}
