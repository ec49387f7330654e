// Package listener accepts connections for net/http's server. It refuses connections, and requests over HTTP/2, above a limit, tracks
// the others until they are drained at shutdown, and enforces a minimum pace of request bodies.
//
// It does not parse requests or write responses: net/http does. The rule that must not be broken: Accept waits only for the next
// connection. One above the limit is closed at once, and a slow client never delays the connections after it.
package listener
