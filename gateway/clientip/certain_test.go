package clientip

import (
	"net/http"
	"testing"
)

// TestCertain: an address is certain if it can't be that of a proxy for others, whatever a stranger writes.
func TestCertain(t *testing.T) {
	trusted := trusting("10.0.0.0/8")
	for _, tt := range []struct {
		name, peer, header, value string
		want                      bool
	}{
		{"a public peer", "203.0.113.9:1", "", "", true},
		{"a public peer of IPv6", "[2001:db8::1]:1", "", "", true},
		{"a proxy that is not listed", "203.0.113.9:1", "X-Forwarded-For", "198.51.100.1", false},
		{"one that writes the other header", "203.0.113.9:1", "Forwarded", "for=198.51.100.1", false},
		{"one that only shows itself", "203.0.113.9:1", "Via", "1.1 proxy", false},
		{"one with a header of its own", "203.0.113.9:1", "X-Real-Ip", "198.51.100.1", false},
		{"a peer on loopback", "127.0.0.1:1", "", "", false},
		{"a private peer, such as a node that rewrites addresses", "172.17.0.1:1", "", "", false},
		{"a private peer of IPv6", "[fd00::1]:1", "", "", false},
		{"carrier-grade NAT", "100.64.0.1:1", "", "", false},
		{"a link-local peer", "[fe80::1%eth0]:1", "", "", false},
		{"a trusted proxy", "10.0.0.1:1", "X-Forwarded-For", "198.51.100.1", true},
		{"a trusted proxy in front of a private client", "10.0.0.1:1", "X-Forwarded-For", "192.168.0.7", false},
		{"a trusted proxy that says nothing", "10.0.0.1:1", "", "", false},
		{"a trusted proxy that is not understood", "10.0.0.1:1", "X-Forwarded-For", "unknown", false},
		{"no address", "@", "", "", false},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{}}
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		if a, certain := trusted.Certain(r); certain != tt.want {
			t.Errorf("%s: %s certain %v", tt.name, a, certain)
		}
	}
}

// TestAttributed: only a peer that is surely a proxy of the house, and not listed, has no address of its own.
func TestAttributed(t *testing.T) {
	trusted := trusting("10.0.0.0/8")
	for _, tt := range []struct{ peer, list, want string }{
		{"203.0.113.9:1", "", "203.0.113.9"},
		{"203.0.113.9:1", "198.51.100.1", "203.0.113.9"}, // anybody can send the header
		{"172.17.0.1:1", "", "172.17.0.1"},
		{"172.17.0.1:1", "198.51.100.1", ""},
		{"127.0.0.1:1", "198.51.100.1", ""},
		{"10.0.0.1:1", "198.51.100.1", "198.51.100.1"},
		{"@", "", ""},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{}}
		if tt.list != "" {
			r.Header.Set("X-Forwarded-For", tt.list)
		}
		a, ok := trusted.Attributed(r)
		if ok != (tt.want != "") || ok && a.String() != tt.want {
			t.Errorf("%s %s: %s %v", tt.peer, tt.list, a, ok)
		}
	}
}
