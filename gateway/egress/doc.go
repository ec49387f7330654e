// Package egress makes of a configured proxy the way out of the clients of package upstream.
//
// It hides which of the configuration's forms a proxy has: a mapping, off, or the environment's.
//
// The one rule: user and password of a proxy go to [upstream.ProxyServer] and nowhere else.
package egress
