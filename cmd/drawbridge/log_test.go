package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"drawbridge/config"
)

// logBuffer takes log records in JSON and lets tests wait for one.
type logBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed and replaced at each write
}

func newLogBuffer() *logBuffer { return &logBuffer{changed: make(chan struct{})} }

// Write implements [io.Writer].
func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
	return l.text.Write(b)
}

// String returns all that was written.
func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// records returns the records with the message, and what is closed when there may be more.
func (l *logBuffer) records(message string) (found []map[string]any, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(l.text.Bytes()) {
		var record map[string]any
		if json.Unmarshal(line, &record) == nil && record["msg"] == message {
			found = append(found, record)
		}
	}
	return found, l.changed
}

// await returns the n-th record with the message, counted from 1, or false when the time is over.
func (l *logBuffer) await(message string, n int, limit time.Duration) (map[string]any, bool) {
	timeout := time.After(limit)
	for {
		found, changed := l.records(message)
		if len(found) >= n {
			return found[n-1], true
		}
		select {
		case <-changed:
		case <-timeout:
			return nil, false
		}
	}
}

// TestLogLevelFollows: a reload changes what is logged.
func TestLogLevelFollows(t *testing.T) {
	var text bytes.Buffer
	log, level := newLogger(&text, config.Telemetry{LogLevel: "error"}, os.Getenv)
	log.Info("before")
	level.follow(&config.Config{Telemetry: config.Telemetry{LogLevel: "debug"}})
	log.Debug("after")
	if strings.Contains(text.String(), "before") || !strings.Contains(text.String(), "after") {
		t.Errorf("log = %s", text.String())
	}
}
