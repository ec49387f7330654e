package upstream

import (
	"fmt"
	"net/netip"
	"net/url"

	"drawbridge/openapi/origin"
)

// CheckHost returns an error if no call to a URL can be made because of its host, as far as that is known without resolving it: an
// address that is not allowed, or the name of a cloud's metadata service. The addresses of instances are those of a registry.
func (c *Client) CheckHost(u *url.URL) error {
	at, ok := origin.Of(u)
	switch {
	case !ok:
		return fmt.Errorf("%s is not a URL that can be called", u.Redacted())
	case c.socket, c.service != nil && u.Host == c.baseHost:
		return nil
	}
	host, _, trust, err := c.dialPolicy.trustOf(at.Address())
	if err != nil {
		return fmt.Errorf("%s can't be called: %w", at, err)
	}
	if a, err := netip.ParseAddr(hostKey(host)); err == nil {
		if err := c.dialPolicy.judge(trust, a.WithZone("").Unmap()); err != nil {
			return fmt.Errorf("%s can't be called: %w", at, err)
		}
	}
	return nil
}
