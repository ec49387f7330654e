package mcp

import "drawbridge/openapi/jsonscan"

// Level is the severity of a log message to the client (RFC 5424).
type Level uint8

// The levels. The zero value disables logging.
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

// String returns MCP's name of the level, "" for no level.
func (l Level) String() string {
	if l == 0 || int(l) > len(logLevels) {
		return ""
	}
	return logLevels[l-1]
}

// ParseLevel returns the level with a name, 0 if there is none.
func ParseLevel(name string) Level {
	for i, l := range logLevels {
		if l == name {
			return Level(i + 1)
		}
	}
	return 0
}

// parseLogLevel decodes a level; 0 if it is invalid (mcp-M7).
func parseLogLevel(value []byte) Level {
	if jsonscan.KindOf(value) != jsonscan.String {
		return 0
	}
	return ParseLevel(string(jsonscan.Unquote(value)))
}
