package proxytest

import (
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strconv"
)

// socks serves the command CONNECT of SOCKS5 (RFC 1928), without authentication or with that of RFC 1929.
func (s *Server) socks(conn net.Conn) {
	methods := read(conn, 2)
	if methods == nil || read(conn, int(methods[1])) == nil {
		return
	}
	if s.User == "" {
		_, _ = conn.Write([]byte{5, 0})
	} else {
		_, _ = conn.Write([]byte{5, 2})
		user := text(conn, 1)
		if password := text(conn, 0); user != s.User || password != s.Password {
			_, _ = conn.Write([]byte{1, 1})
			return
		}
		_, _ = conn.Write([]byte{1, 0})
	}
	head := read(conn, 4)
	if head == nil {
		return
	}
	host := ""
	switch head[3] {
	case 1:
		host = address(read(conn, 4))
	case 4:
		host = address(read(conn, 16))
	case 3:
		host = text(conn, 0)
	}
	port := read(conn, 2)
	if host == "" || port == nil {
		return
	}
	target := net.JoinHostPort(host, strconv.Itoa(int(binary.BigEndian.Uint16(port))))
	s.asked(target)
	reply := func(code byte) { _, _ = conn.Write([]byte{5, code, 0, 1, 0, 0, 0, 0, 0, 0}) }
	out, err := s.dial(target)
	if err != nil {
		reply(5) // connection refused
		return
	}
	reply(0)
	s.relay(conn, conn, out)
}

// read returns n bytes; nil if they don't come.
func read(conn net.Conn, n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(conn, b); err != nil {
		return nil
	}
	return b
}

// text returns a text after its length, and after skipped bytes before that.
func text(conn net.Conn, skipped int) string {
	n := read(conn, skipped+1)
	if n == nil {
		return ""
	}
	return string(read(conn, int(n[skipped])))
}

func address(b []byte) string {
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}
