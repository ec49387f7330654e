package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// relayLabel is the version of the layout of relayed messages.
const relayLabel = "drawbridge mcp relay 1"

// relayLife is the validity of a message between replicas.
const relayLife = time.Minute

// maxRelayed limits a client's message that is relayed, in bytes. Input responses are far smaller, and larger messages
// would slow down the relay for all sessions; the client gets an error.
const maxRelayed = 64 << 10

// relayMessage is an event of a legacy session for the replicas that may hold a stream or a call of the session.
type relayMessage struct {
	Kind    relayKind       `json:"k"`
	Session [16]byte        `json:"s"`
	Expiry  int64           `json:"e,omitempty"` // of the session
	Level   Level           `json:"l,omitempty"`
	Message json.RawMessage `json:"m,omitempty"` // of the client, or the id of the call
}

type relayKind string

const (
	relayCancel relayKind = "cancel" // a call was cancelled
	relayAnswer relayKind = "answer" // an input request was answered
	relayLevel  relayKind = "level"  // the log level was set
	relayEnd    relayKind = "end"    // the session has ended
)

// relay sends a message to the other replicas, if there are any. It returns false if the message is too large. A
// failure is logged only: the client gets the response of a single replica.
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
		h.o.Logger.LogAttrs(ctx, slog.LevelWarn, "other replicas could not be notified", slog.String("of", string(m.Kind)), slog.Any("error", err))
	}
	return true
}

// ReceiveRelayed handles a message that was passed to [Options].Relay at another replica or at this one. A message that
// was not sealed with a key of this handler, or that has expired, is an error and changes nothing. It is safe for
// concurrent use.
func (h *Handler) ReceiveRelayed(message []byte) error {
	plain, _, err := h.relaySealer.Open(string(message), h.now())
	if err != nil {
		return fmt.Errorf("message of another replica: %w", err)
	}
	var m relayMessage
	if err := json.Unmarshal(plain, &m); err != nil {
		return fmt.Errorf("message of another replica: %w", err)
	}
	ss := session{id: m.Session, expiry: m.Expiry}
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
	return nil // other kinds are those of newer versions
}

// forgetSession drops the state of a session that has ended.
func (h *Handler) forgetSession(session [16]byte) {
	h.sessionLevels.forget(session)
	if h.o.Broker != nil {
		h.o.Broker.endSession(session)
	}
}

// RelayFunc sends a message to all other replicas, whose [Handler.ReceiveRelayed] handles it. The message is sealed
// text. It must not block for long, since a client's request waits for it.
type RelayFunc func(ctx context.Context, message []byte) error
