package mcp

import (
	"context"
	"strings"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

// LogEnabled reports whether [Reply.Log] would send a message of this level, for methods whose messages are expensive
// to make. Stateless clients set the level in each request, legacy clients for the session, by logging/setLevel. It
// returns false for a nil Reply.
func (r *Reply) LogEnabled(level Level) bool {
	if r == nil {
		return false
	}
	x := r.x
	if !x.h.o.Capabilities.Logging || !x.acceptsEventStream() {
		return false
	}
	wanted := x.req.Meta.LogLevel
	if x.req.Family == Legacy {
		wanted = x.h.sessionLevels.get(x.session.id)
	}
	return wanted != 0 && level >= wanted
}

// Log sends a log message to the client if the level is enabled (mcp-M8). data is JSON text of any kind; logger may be
// empty. Neither may contain secrets or details that help an attacker, since the message leaves the server. Messages
// above the rate limit are dropped. The error is that of [Reply.Notify].
func (r *Reply) Log(level Level, logger string, data []byte) error {
	if !r.LogEnabled(level) {
		return nil
	}
	w := &r.x.out
	w.sse.mu.Lock()
	defer w.sse.mu.Unlock()
	if !r.notificationState().logBucket.allow(r.x.h.now(), logBurst, logRate) {
		return nil
	}
	head := `"level":"` + level.String() + `",`
	if logger != "" {
		head = string(jsonscan.AppendString([]byte(head+`"logger":`), logger)) + ","
	}
	return r.notifyLocked("notifications/message", Chunk{Bytes: []byte(head + `"data":`)}, Chunk{Bytes: data})
}

// maxLevels limits the sessions whose log level is stored.
const maxLevels = 1 << 16

// sessionLevels are the log levels that legacy sessions have set on this replica. If maxLevels is reached, an expired
// session is evicted if one of the first entries is, else any. It is safe for concurrent use.
type sessionLevels struct {
	mu        sync.Mutex
	bySession map[[16]byte]sessionLevel
}

type sessionLevel struct {
	level  Level
	expiry time.Time
}

func (l *sessionLevels) get(session [16]byte) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bySession[session].level
}

func (l *sessionLevels) set(ss *session, level Level, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.bySession[ss.id]; !again && len(l.bySession) >= maxLevels {
		var victim [16]byte
		looked := 0
		for id, other := range l.bySession { // in random order
			victim = id
			if looked++; looked > 32 || now.After(other.expiry) {
				break
			}
		}
		delete(l.bySession, victim)
	}
	if l.bySession == nil {
		l.bySession = make(map[[16]byte]sessionLevel)
	}
	l.bySession[ss.id] = sessionLevel{level, ss.until()}
}

func (l *sessionLevels) forget(session [16]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.bySession, session)
}

// serveSetLevel answers logging/setLevel (2025-11-25 utilities/logging).
func (h *Handler) serveSetLevel(_ context.Context, req *Request, reply *Reply) error {
	level := parseLogLevel(jsonscan.Lookup(req.Params, "level"))
	if level == 0 {
		return InvalidParams("params.level must be one of %s", strings.Join(logLevels[:], ", "))
	}
	ss := &reply.x.session
	h.sessionLevels.set(ss, level, h.now())
	reply.x.relay(relayMessage{Kind: relayLevel, Level: level, Expiry: ss.expiry})
	return reply.Result()
}
