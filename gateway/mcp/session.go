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

// ClientCapabilities is a set of the client capabilities that the server knows.
type ClientCapabilities uint16

// Client capabilities (2026-07-28 schema, ClientCapabilities). The bits are sealed into session ids, so they must never
// change their meaning.
const (
	ClientElicitation    ClientCapabilities = 1 << iota // elicitation in form mode
	ClientElicitationURL                                // elicitation in URL mode
	ClientSampling
	ClientRoots
	ClientTasks // extension io.modelcontextprotocol/tasks
)

// Identifiers of extensions.
const (
	extensionSkills = "io.modelcontextprotocol/skills"
	extensionTasks  = "io.modelcontextprotocol/tasks"
)

// Has reports whether c contains all of want.
func (c ClientCapabilities) Has(want ClientCapabilities) bool { return c&want == want }

// clientCapabilities parses a ClientCapabilities object. Unknown members are ignored, and so are values that are not
// objects.
func clientCapabilities(object []byte) ClientCapabilities {
	var c ClientCapabilities
	for name, value := range jsonscan.Members(object) {
		if objectKind(value) != jsonscan.Object {
			continue
		}
		switch string(name) {
		case "roots":
			c |= ClientRoots
		case "sampling":
			c |= ClientSampling
		case "elicitation":
			form, url := jsonscan.Lookup(value, "form") != nil, jsonscan.Lookup(value, "url") != nil
			if form || !url { // {} means form, as before there were modes
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

// sessionLife is the default of [ReloadableOptions].SessionLife (T20). Use does not prolong a session, since its id itself is the only
// record of it.
const sessionLife = 24 * time.Hour

// session is the content of a legacy session id, negotiated by initialize. It is small because each request holds one.
type session struct {
	id           [16]byte // random; identifies the session in revocations and calls in flight
	expiry       int64    // Unix time in seconds; 0 before initialize
	query        string   // of the URL that the client has connected to
	revision     uint8    // index into legacyRevisions
	capabilities ClientCapabilities
}

// until returns the time at which the session ends, if nothing ends it before.
func (s *session) until() time.Time {
	if s.expiry == 0 {
		return time.Time{}
	}
	return time.Unix(s.expiry, 0)
}

// sessionSealer seals and opens session ids. They are bound to the principal, so that the id of another principal does
// not open.
type sessionSealer struct{ *Sealer }

// sessionSize is the length of an encoded session before sealing, without its query.
const sessionSize = 16 + 8 + 1 + 2

// MaxQuery is the maximum length in bytes of [Request.Query]. Clients with a longer one are refused when they connect.
const MaxQuery = 512

// sessionLabel is the version of the layout.
const sessionLabel = "drawbridge mcp session 1"

// newSessionSealer panics if [NewSealer] fails.
func newSessionSealer(secrets [][]byte) *sessionSealer {
	s, err := NewSealer(secrets, sessionLabel)
	if err != nil {
		panic(fmt.Sprintf("mcp: session keys: %v", err))
	}
	return &sessionSealer{s}
}

// newSealedHandles panics if [NewSealedHandles] fails.
func newSealedHandles(secrets [][]byte, label string) *SealedHandles {
	h, err := NewSealedHandles(secrets, label)
	if err != nil {
		panic(fmt.Sprintf("mcp: keys of %s: %v", label, err))
	}
	return h
}

// seal returns the id of a session.
func (s *sessionSealer) seal(principal string, ss session) string {
	plain := make([]byte, 0, sessionSize+len(ss.query))
	plain = append(plain, ss.id[:]...)
	plain = binary.BigEndian.AppendUint64(plain, uint64(ss.expiry))
	plain = append(plain, ss.revision)
	plain = binary.BigEndian.AppendUint16(plain, uint16(ss.capabilities))
	plain = append(plain, ss.query...)
	return s.Seal(plain, []byte(principal))
}

var errSession = errors.New("not a session id of this principal")

// open decodes a session id. It does not check the expiry.
func (s *sessionSealer) open(principal, id string) (session, error) {
	const size = 12 + sessionSize + 16 // nonce, session, tag
	if n := base64.RawURLEncoding.DecodedLen(len(id)); n < size || n > size+MaxQuery {
		return session{}, errSession
	}
	plain, err := s.Open(id, []byte(principal))
	if err != nil || len(plain) < sessionSize {
		return session{}, errSession
	}
	ss := session{
		expiry:       int64(binary.BigEndian.Uint64(plain[16:])),
		revision:     plain[24],
		capabilities: ClientCapabilities(binary.BigEndian.Uint16(plain[25:])),
		query:        string(plain[sessionSize:]),
	}
	copy(ss.id[:], plain)
	if int(ss.revision) >= len(legacyRevisions) { // sealed by a newer version of this program
		return session{}, errSession
	}
	return ss, nil
}

// openSession returns the session of a legacy request. A request without an id is a bad request (400); an id that is
// unknown, altered, expired, revoked or another caller's is not found (404), which tells the client to initialize again
// (2025-11-25 transports, Session Management).
func (h *Handler) openSession(ctx context.Context, header http.Header, principal string) (session, *Error) {
	id, ok := headerValue(header, headerSession)
	if !ok || id == "" {
		return session{}, httpError(http.StatusBadRequest,
			"header Mcp-Session-Id is missing: send initialize first, or MCP-Protocol-Version %s with _meta", revision20260728)
	}
	ss, err := h.sessionSealer.open(principal, id)
	if err != nil || !h.now().Before(ss.until()) || h.isRevoked(ctx, &ss) {
		return session{}, sessionNotFound()
	}
	return ss, nil
}

func sessionNotFound() *Error {
	return httpError(http.StatusNotFound, "session not found: it has ended; send initialize to begin another")
}

// isRevoked reports whether a client has ended a session, on any replica.
func (h *Handler) isRevoked(ctx context.Context, ss *session) bool {
	return h.o.Revocations != nil && h.o.Revocations.Revoked(ctx, ss.key())
}

// SessionEnded drops the state and the stream of a session that has ended at another replica. id is one that was passed
// to [Revocations]; other ids are ignored. It is safe for concurrent use.
func (h *Handler) SessionEnded(id string) {
	var session [16]byte
	if copy(session[:], id) == len(id) {
		h.forgetSession(session)
	}
}

// closeIfRevoked ends a stream whose session has ended at another replica, in case that one's message was lost.
func (x *exchange) closeIfRevoked(ctx context.Context) {
	if x.req.Family == Legacy && x.h.isRevoked(ctx, &x.session) {
		x.h.forgetSession(x.session.id)
	}
}

// key returns the id that the session has in [Revocations].
func (s *session) key() string { return string(s.id[:]) }
