package clientip

import "net/netip"

// Key groups addresses for limits: an IPv4 address, or the /64 network of an IPv6 address, since a host there can use any
// address of its network. The zero value belongs to no address.
type Key [9]byte

// KeyOf returns the key of an address.
func KeyOf(a netip.Addr) (k Key) {
	if a = a.Unmap(); a.Is4() {
		four := a.As4()
		k[0] = 4
		copy(k[1:], four[:])
		return k
	}
	six := a.As16()
	k[0] = 6
	copy(k[1:], six[:8])
	return k
}

// Network returns the address or the network that k stands for; the zero value for that of k.
func (k Key) Network() netip.Prefix {
	switch k[0] {
	case 4:
		return netip.PrefixFrom(netip.AddrFrom4([4]byte(k[1:5])), 32)
	case 6:
		var six [16]byte
		copy(six[:], k[1:])
		return netip.PrefixFrom(netip.AddrFrom16(six), 64)
	}
	return netip.Prefix{}
}

// String returns the address or the network; "local" for the zero value.
func (k Key) String() string {
	switch n := k.Network(); {
	case !n.IsValid():
		return "local"
	case n.IsSingleIP():
		return n.Addr().String()
	default:
		return n.String()
	}
}
