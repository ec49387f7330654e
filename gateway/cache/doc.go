// Package cache is an HTTP response cache for GET and HEAD (RFC 9111).
//
// It hides freshness, validation, invalidation, request coalescing, and the limits of the store. It
// knows tools and callers by name only. Responses are stored in the memory of one process, decoded
// and complete; with a [Beyond], replicas share them.
//
// The one rule: a response is found only by the complete name under which it was stored. The name
// contains everything that the response depends on: the caller, the credential, every header that
// was sent. Vary then needs no further check, except for "*".
package cache
