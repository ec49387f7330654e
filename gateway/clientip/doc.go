// Package clientip finds the address that a request comes from behind trusted proxies, and groups addresses for limits.
//
// It hides the syntax of Forwarded (RFC 7239) and X-Forwarded-For, the walk along the proxies from right to left, and how the
// operator is warned of a proxy that the configuration forgot, without strangers being able to fill the log.
//
// The one rule: an address serves logs and limits and never decides who may call, since a client in a trusted network can
// claim to be any other (H8). Only trusted proxies are believed, and nothing that a header says is logged.
package clientip
