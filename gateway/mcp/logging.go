package mcp

import (
	"context"
	"strings"
	"sync"
	"time"

	"drawbridge/openapi/jsonscan"
)

// Level is the severity of a log message to the client, after RFC 5424.
type Level uint8

// The levels. The zero value is none: it silences the log.
const (
	LevelDebug Level = iota + 1
	LevelInfo
	LevelNotice
	LevelWarning
	LevelError
	LevelCritical
	LevelAlert
	LevelEmergency
)

// logLevels are the levels as MCP spells them.
var logLevels = [...]string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// String returns the level as MCP spells it, "" for no level.
func (l Level) String() string {
	if l == 0 || int(l) > len(logLevels) {
		return ""
	}
	return logLevels[l-1]
}

// ParseLevel returns the level that MCP spells so, 0 if there is none.
func ParseLevel(name string) Level {
	for i, l := range logLevels {
		if l == name {
			return Level(i + 1)
		}
	}
	return 0
}

// logLevel decodes a level; 0 if it is none (mcp-M7).
func parseLogLevel(value []byte) Level {
	if jsonscan.KindOf(value) != jsonscan.String {
		return 0
	}
	return ParseLevel(string(jsonscan.Unquote(value)))
}

// Logs tells whether [Reply.Log] would send a message of this level: whoever makes
// costly messages asks first. Modern clients ask for messages in each request,
// legacy ones for those of a session, by logging/setLevel. A nil Reply has nobody to
// tell.
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

// Log sends a log message to the client, if it wants those of this level (mcp-M8).
// data is JSON text of any kind; logger may be empty. Neither may hold secrets, nor
// what helps an attacker: the message leaves the house. What follows too fast is
// dropped. The error is that of [Reply.Notify].
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

// maxLevels bounds the sessions whose log level is remembered.
const maxLevels = 1 << 16

// levels are the log levels that legacy sessions have set on this replica. They are
// bounded: when they are full, one that has ended goes, else any. Safe for concurrent
// use.
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
		for id, other := range l.bySession { // in no order
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
	l.bySession[ss.id] = sessionLevel{level, ss.expiry}
}

func (l *sessionLevels) forget(session [16]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.bySession, session)
}

// setLevel answers logging/setLevel (2025-11-25 utilities/logging).
func (h *Handler) serveSetLevel(_ context.Context, req *Request, reply *Reply) error {
	level := parseLogLevel(jsonscan.Lookup(req.Params, "level"))
	if level == 0 {
		return InvalidParams("params.level must be one of %s", strings.Join(logLevels[:], ", "))
	}
	ss := &reply.x.session
	h.sessionLevels.set(ss, level, h.now())
	reply.x.relay(relayMessage{Kind: relayLevel, Level: level, Expiry: ss.expiry.Unix()})
	return reply.Result()
}
