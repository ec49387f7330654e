//go:build !unix

package socket

import "net"

// CanLook tells that nobody can look at an idle connection here.
const CanLook = false

// Direct returns conn as it is.
func Direct(conn net.Conn) net.Conn { return conn }
