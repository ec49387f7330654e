//go:build !unix

package upstream

import "net"

// canProbe tells that an idle connection can't be looked at here, so that all calls are net/http's.
const canProbe = false

// probe is not used here.
type probe struct{}

func newProbe(net.Conn) probe { return probe{} }

func (probe) isQuiet() bool { return false }
