package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
)

// consoleHandler is a [slog.Handler] for people at a terminal: time of day, level and message, then the attributes as
// [slog.TextHandler] writes them. The text of a record is made [printable], so that colours come only from the handler.
type consoleHandler struct {
	attributes slog.Handler // writes to console.attributes
	console    *console
}

// console is what the handlers of a logger share.
type console struct {
	mu         sync.Mutex
	w          io.Writer
	attributes bytes.Buffer
	colour     bool
}

func newConsoleHandler(w io.Writer, level slog.Leveler, colour bool) *consoleHandler {
	c := &console{w: w, colour: colour}
	return &consoleHandler{console: c, attributes: slog.NewTextHandler(printable{&c.attributes}, &slog.HandlerOptions{Level: level, ReplaceAttr: withoutHead})}
}

// withoutHead drops level and message, which consoleHandler writes.
func withoutHead(groups []string, a slog.Attr) slog.Attr {
	_, level := a.Value.Any().(slog.Level)
	if len(groups) == 0 && (a.Key == slog.LevelKey && level || a.Key == slog.MessageKey && a.Value.String() == "") {
		return slog.Attr{}
	}
	return a
}

// Enabled implements [slog.Handler].
func (h *consoleHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return h.attributes.Enabled(ctx, l)
}

// WithAttrs implements [slog.Handler].
func (h *consoleHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &consoleHandler{h.attributes.WithAttrs(attrs), h.console}
}

// WithGroup implements [slog.Handler].
func (h *consoleHandler) WithGroup(name string) slog.Handler {
	return &consoleHandler{h.attributes.WithGroup(name), h.console}
}

// Handle implements [slog.Handler].
func (h *consoleHandler) Handle(ctx context.Context, r slog.Record) error {
	c := h.console
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attributes.Reset()
	rest := slog.NewRecord(time.Time{}, r.Level, "", 0)
	r.Attrs(func(a slog.Attr) bool { rest.AddAttrs(a); return true })
	if err := h.attributes.Handle(ctx, rest); err != nil {
		return err
	}
	var line bytes.Buffer
	c.paint(&line, "2", r.Time.Format("15:04:05.000"))
	line.WriteByte(' ')
	c.paint(&line, colourOf(r.Level), fmt.Sprintf("%-5s", r.Level))
	line.WriteByte(' ')
	message := r.Message
	if strings.Contains(message, "\n") { // one record, one line
		message = strconv.Quote(message)
	}
	fmt.Fprint(printable{&line}, message)
	if c.attributes.Len() > len("\n") {
		line.WriteByte(' ')
	}
	line.Write(c.attributes.Bytes())
	_, err := c.w.Write(line.Bytes())
	return err
}

// paint writes text in a colour, a parameter of the control sequence SGR (ECMA-48 section 8.3.117).
func (c *console) paint(line *bytes.Buffer, colour, text string) {
	if c.colour {
		text = "\x1b[" + colour + "m" + text + "\x1b[0m"
	}
	line.WriteString(text)
}

func colourOf(l slog.Level) string {
	switch {
	case l >= slog.LevelError:
		return "31" // red
	case l >= slog.LevelWarn:
		return "33" // yellow
	case l >= slog.LevelInfo:
		return "32" // green
	}
	return "36" // cyan
}
