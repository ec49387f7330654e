package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// relayLabel is the version of the layout of what replicas tell each other.
const relayLabel = "drawbridge mcp relay 1"

// relayLife is how long a message between replicas counts.
const relayLife = time.Minute

// maxRelayed is the size of the largest message of a client that other replicas are told of, in bytes. What users answer is
// far smaller, and what is larger would make the way between replicas slow for everybody: the client hears that.
const maxRelayed = 64 << 10

// relayed is what one replica has learned of a legacy session and another may have to
// know, since that one holds a stream or a call of the session.
type relayMessage struct {
	Kind    relayKind       `json:"k"`
	Session [16]byte        `json:"s"`
	Expiry  int64           `json:"e,omitempty"` // of the session
	Level   Level           `json:"l,omitempty"`
	Message json.RawMessage `json:"m,omitempty"` // the client's, or the id of the call
}

type relayKind string

const (
	relayCancel relayKind = "cancel" // a call is cancelled
	relayAnswer relayKind = "answer" // a question is answered
	relayLevel  relayKind = "level"  // the log level is set
	relayEnd    relayKind = "end"    // the session has ended
)

// relay tells the other replicas, if there is a way; false: the message is too large for
// it. That it failed is logged: the client is answered as if there were one replica.
func (x *exchange) relay(m relayMessage) bool {
	h := x.h
	if h.o.Relay == nil {
		return true
	}
	if len(m.Message) > maxRelayed {
		return false
	}
	m.Session = x.session.id
	ctx := x.req.HTTP.Context()
	plain, err := json.Marshal(&m)
	if err == nil {
		err = h.o.Relay(ctx, []byte(h.relaySealer.Seal(plain, h.now().Add(relayLife))))
	}
	if err != nil {
		h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "other replicas could not be told", slog.String("of", string(m.Kind)), slog.Any("error", err))
	}
	return true
}

// Relayed takes a message that the [Options].Relay of another replica, or of this one,
// was given. It is safe for concurrent use. An error is a message that was not made
// with one of our keys, or too long ago; it changes nothing.
func (h *Handler) ReceiveRelayed(message []byte) error {
	plain, _, err := h.relaySealer.Open(string(message), h.now())
	if err != nil {
		return fmt.Errorf("message of another replica: %w", err)
	}
	var m relayMessage
	if err := json.Unmarshal(plain, &m); err != nil {
		return fmt.Errorf("message of another replica: %w", err)
	}
	ss := session{id: m.Session, expiry: time.Unix(m.Expiry, 0)}
	switch m.Kind {
	case relayCancel:
		h.calls.cancel(newCallKey(&ss, m.Message))
	case relayAnswer:
		h.elicitations.deliver(ss.id, m.Message)
	case relayLevel:
		h.sessionLevels.set(&ss, m.Level, h.now())
	case relayEnd:
		h.forgetSession(ss.id)
	}
	return nil // of a kind that a newer version knows, perhaps
}

// forget drops what is known of a session that has ended.
func (h *Handler) forgetSession(session [16]byte) {
	h.sessionLevels.forget(session)
	if h.o.Broker != nil {
		h.o.Broker.endSession(session)
	}
}

// RelayFunc gives a message to all other replicas, whose [Handler.Relayed] takes it. The
// message is sealed text. It must not wait for long: a client's request waits for it.
type RelayFunc func(ctx context.Context, message []byte) error
