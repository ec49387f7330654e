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
func logLevel(value []byte) Level {
	if jsonscan.KindOf(value) != jsonscan.String {
		return 0
	}
	return ParseLevel(string(jsonscan.Unquote(value)))
}

// Logs tells whether [Reply.Log] would send a message of this level: whoever makes
// costly messages asks first. Modern clients ask for messages in each request,
// legacy ones for those of a session, by logging/setLevel. A nil Reply has nobody to
// tell.
func (r *Reply) Logs(level Level) bool {
	if r == nil {
		return false
	}
	x := r.x
	if !x.h.o.Capabilities.Logging || !x.streams() {
		return false
	}
	wanted := x.req.Meta.LogLevel
	if x.req.Era == Legacy {
		wanted = x.h.levels.of(x.session.id)
	}
	return wanted != 0 && level >= wanted
}

// Log sends a log message to the client, if it wants those of this level (mcp-M8).
// data is JSON text of any kind; logger may be empty. Neither may hold secrets, nor
// what helps an attacker: the message leaves the house. What follows too fast is
// dropped. The error is that of [Reply.Notify].
func (r *Reply) Log(level Level, logger string, data []byte) error {
	if !r.Logs(level) {
		return nil
	}
	s := &r.x.out
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	if !r.talk().logs.take(r.x.h.now(), logBurst, logRate) {
		return nil
	}
	head := `"level":"` + level.String() + `",`
	if logger != "" {
		head = string(jsonscan.AppendString([]byte(head+`"logger":`), logger)) + ","
	}
	return r.notify("notifications/message", Chunk{Bytes: []byte(head + `"data":`)}, Chunk{Bytes: data})
}

// maxLevels bounds the sessions whose log level is remembered.
const maxLevels = 1 << 16

// levels are the log levels that legacy sessions have set on this replica. They are
// bounded: when they are full, one that has ended goes, else any. Safe for concurrent
// use.
type levels struct {
	mu  sync.Mutex
	set map[[16]byte]sessionLevel
}

type sessionLevel struct {
	level  Level
	expiry time.Time
}

func (l *levels) of(session [16]byte) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.set[session].level
}

func (l *levels) put(ss *session, level Level, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.set[ss.id]; !again && len(l.set) >= maxLevels {
		var victim [16]byte
		looked := 0
		for id, other := range l.set { // in no order
			victim = id
			if looked++; looked > 32 || now.After(other.expiry) {
				break
			}
		}
		delete(l.set, victim)
	}
	if l.set == nil {
		l.set = make(map[[16]byte]sessionLevel)
	}
	l.set[ss.id] = sessionLevel{level, ss.expiry}
}

func (l *levels) forget(session [16]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.set, session)
}

// setLevel answers logging/setLevel (2025-11-25 utilities/logging).
func (h *Handler) setLevel(_ context.Context, req *Request, reply *Reply) error {
	level := logLevel(jsonscan.Lookup(req.Params, "level"))
	if level == 0 {
		return InvalidParams("params.level must be one of %s", strings.Join(logLevels[:], ", "))
	}
	ss := &reply.x.session
	h.levels.put(ss, level, h.now())
	reply.x.relay(relayed{Kind: relayLevel, Level: level, Expiry: ss.expiry.Unix()})
	return reply.Result()
}
