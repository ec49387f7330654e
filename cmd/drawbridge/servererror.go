package main

import (
	"log"
	"log/slog"
	"strings"
)

// serverErrors logs the messages of net/http with a level: it uses one logger for panics, for a
// lack of file descriptors, and for clients that speak no TLS.
type serverErrors struct{ log *slog.Logger }

func (e serverErrors) logger() *log.Logger { return log.New(e, "", 0) }

// Write implements [io.Writer]; it is called once for each message.
func (e serverErrors) Write(b []byte) (int, error) {
	text := strings.TrimSpace(string(b))
	switch {
	case strings.HasPrefix(text, "http: panic serving"), strings.HasPrefix(text, "http2: panic serving"):
		e.log.Error("panic in the HTTP server", "detail", text)
	case strings.HasPrefix(text, "http: Accept error"):
		e.log.Warn("can't accept connections", "detail", text)
	default:
		e.log.Debug("HTTP server", "detail", text)
	}
	return len(b), nil
}
