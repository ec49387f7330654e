package mcp

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"time"

	"drawbridge/openapi/jsonscan"
)

// ClientCapabilities is the set of client capabilities that the server knows.
type ClientCapabilities uint16

// Client capabilities (2026-07-28 schema, ClientCapabilities). The bits are sealed
// into session ids: never give one another meaning.
const (
	ClientElicitation    ClientCapabilities = 1 << iota // elicitation in form mode
	ClientElicitationURL                                // elicitation in URL mode
	ClientSampling
	ClientRoots
	ClientTasks // extension io.modelcontextprotocol/tasks
)

// extensionTasks is the identifier of the tasks extension.
const extensionTasks = "io.modelcontextprotocol/tasks"

// Has tells whether all of want were declared.
func (c ClientCapabilities) Has(want ClientCapabilities) bool { return c&want == want }

// clientCapabilities reads a ClientCapabilities object. What the server does not
// know is left out, and so is what has the wrong shape: a capability is an object.
func clientCapabilities(object []byte) ClientCapabilities {
	var c ClientCapabilities
	for name, value := range jsonscan.Members(object) {
		if jsonscan.KindOf(value) != jsonscan.Object {
			continue
		}
		switch string(name) {
		case "roots":
			c |= ClientRoots
		case "sampling":
			c |= ClientSampling
		case "elicitation":
			form, url := jsonscan.Lookup(value, "form") != nil, jsonscan.Lookup(value, "url") != nil
			if form || !url { // {} means form, for clients from before there was a choice
				c |= ClientElicitation
			}
			if url {
				c |= ClientElicitationURL
			}
		case "extensions":
			if jsonscan.Lookup(value, extensionTasks) != nil {
				c |= ClientTasks
			}
		}
	}
	return c
}

// sessionLife is how long a session id is good for (T20). It is not prolonged by
// use, since the id itself is the only record of the session.
const sessionLife = 24 * time.Hour

// session is what a legacy session id holds; initialize agreed on it.
type session struct {
	id           [16]byte // random; names the session in tombstones and calls in flight
	expiry       time.Time
	revision     int // index into legacyRevisions
	capabilities ClientCapabilities
}

// sealer makes session ids and opens them. The principal is what an id is bound to, so that one that belongs to
// somebody else does not open at all (design: sealed handles).
type sessionSealer struct{ *Sealer }

// sealedSize is the length of a session in the clear.
const sessionSize = 16 + 8 + 1 + 2

// sealLabel is the version of the format: a new layout takes a new label.
const sessionLabel = "drawbridge mcp session 1"

// newSealer panics only where [NewSealer] has an error.
func newSessionSealer(secrets [][]byte) *sessionSealer {
	s, err := NewSealer(secrets, sessionLabel)
	if err != nil {
		panic(fmt.Sprintf("mcp: session keys: %v", err))
	}
	return &sessionSealer{s}
}

// newHandles panics only where [NewHandles] has an error.
func newSealedHandles(secrets [][]byte, label string) *SealedHandles {
	h, err := NewSealedHandles(secrets, label)
	if err != nil {
		panic(fmt.Sprintf("mcp: keys of %s: %v", label, err))
	}
	return h
}

// seal makes the id of a new session.
func (s *sessionSealer) seal(principal string, ss session) string {
	plain := make([]byte, 0, sessionSize)
	plain = append(plain, ss.id[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(ss.expiry.Unix()))
	plain = append(plain, byte(ss.revision))
	plain = binary.BigEndian.AppendUint16(plain, uint16(ss.capabilities))
	return s.Seal(plain, []byte(principal))
}

var errSession = errors.New("not a session id of this principal")

// open reads an id. It does not look at the expiry.
func (s *sessionSealer) open(principal, id string) (session, error) {
	const size = 12 + sessionSize + 16 // nonce, session, tag
	if len(id) != base64.RawURLEncoding.EncodedLen(size) {
		return session{}, errSession
	}
	plain, err := s.Open(id, []byte(principal))
	if err != nil {
		return session{}, errSession
	}
	ss := session{
		expiry:       time.Unix(int64(binary.BigEndian.Uint64(plain[16:])), 0),
		revision:     int(plain[24]),
		capabilities: ClientCapabilities(binary.BigEndian.Uint16(plain[25:])),
	}
	copy(ss.id[:], plain)
	if ss.revision >= len(legacyRevisions) { // sealed by a newer version of this program
		return session{}, errSession
	}
	return ss, nil
}

// resume finds the session of a legacy request. Without an id the request is bad
// (400); with one that is unknown, altered, expired, ended or another caller's
// there is no such session (404), which tells the client to initialize again
// (2025-11-25 transports, Session Management).
func (h *Handler) openSession(ctx context.Context, header http.Header, principal string) (session, *Error) {
	id, ok := headerValue(header, headerSession)
	if !ok || id == "" {
		return session{}, httpError(http.StatusBadRequest,
			"header Mcp-Session-Id is missing: send initialize first, or MCP-Protocol-Version %s with _meta", revision20260728)
	}
	ss, err := h.sessionSealer.open(principal, id)
	if err != nil || !h.now().Before(ss.expiry) || h.isRevoked(ctx, &ss) {
		return session{}, sessionNotFound()
	}
	return ss, nil
}

func sessionNotFound() *Error {
	return httpError(http.StatusNotFound, "session not found: it has ended; send initialize to begin another")
}

// revoked tells whether a client has ended a session, here or elsewhere.
func (h *Handler) isRevoked(ctx context.Context, ss *session) bool {
	return h.o.Revocations != nil && h.o.Revocations.Revoked(ctx, ss.key())
}

// Ended drops what is known here of a session that has ended at another replica, its stream with it. The id is one that
// [Revocations] was given; of others nothing is known. It is safe for concurrent use.
func (h *Handler) SessionEnded(id string) {
	var session [16]byte
	if copy(session[:], id) == len(id) {
		h.forgetSession(session)
	}
}

// revoked ends a stream whose session has ended elsewhere, and nobody has told this replica.
func (x *exchange) closeIfRevoked(ctx context.Context) {
	if x.req.Family == Legacy && x.h.isRevoked(ctx, &x.session) {
		x.h.forgetSession(x.session.id)
	}
}

// key is the session's name among revocations.
func (s *session) key() string { return string(s.id[:]) }
