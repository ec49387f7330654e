// Package listener stands between the sockets of clients and net/http's server: it refuses connections, and requests over HTTP/2, above a limit, follows the
// others until service ends, and bounds how slowly the body of a request may come.
//
// It reads nothing of a request and answers none: net/http does. The rule that must not be broken: Accept waits for nothing but the next connection. One
// that is too many is closed at once, and what a connection sends, or doesn't send, never holds up those behind it.
package listener
