// Package cache keeps answers of services: those of GET and HEAD, as long as RFC 9111 lets it.
//
// It hides freshness, validation, what a change makes stale, how one request serves many that come at the same time, and the bounds of
// the store. It knows no tool and no caller, but names for them. Answers are kept in the memory of one process, decoded and whole; where there is a [Beyond], replicas
// find there what others have kept.
//
// The one rule: an answer is found by the name under which it was kept, all of it, and never by a part. Whoever makes the name puts
// into it all that decided the answer: whose it is, the credential, every header that was sent. Vary then asks for nothing more, but
// where it is "*".
package cache
