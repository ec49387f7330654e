package upstream

import (
	"net/netip"
	"testing"
)

// TestOnlyAddresses judges addresses of a client that is bound to networks: neither a name nor a literal address of the configuration, nor a
// range that is allowed otherwise, leads out of them.
func TestOnlyAddresses(t *testing.T) {
	g := newDialPolicy([]string{"a.internal", "10.2.0.1"}, []string{"document.example"}, []netip.Prefix{netip.MustParsePrefix("10.3.0.0/16")}, 0)
	g.confine([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")})
	for _, of := range []trust{publicOnly, documentHost, namedHost, literalHost} {
		for _, outside := range []string{"10.2.0.1", "10.3.0.1", "8.8.8.8", "169.254.169.254", "::1"} {
			if g.judge(of, netip.MustParseAddr(outside)) == nil {
				t.Errorf("%s is allowed for trust %d", outside, of)
			}
		}
	}
	if err := g.judge(namedHost, netip.MustParseAddr("10.1.2.3")); err != nil {
		t.Error(err)
	}
	if g.literal.Control == nil {
		t.Error("literal addresses are not judged")
	}
}
