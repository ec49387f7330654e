package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"drawbridge/config"
)

// TestConsole: a record is one line, whose words can't mislead the terminal; only the handler colours.
func TestConsole(t *testing.T) {
	for _, tt := range []struct {
		colour bool
		log    func(*slog.Logger)
		want   string
	}{
		{false, func(l *slog.Logger) { l.Info("listening") }, "TIME INFO  listening\n"},
		{false, func(l *slog.Logger) { l.Warn("slow", "api", "orders", "error", errors.New("no answer")) }, "TIME WARN  slow api=orders error=\"no answer\"\n"},
		{false, func(l *slog.Logger) { l.With("from", "demo").WithGroup("call").Error("failed", "msg", "x", "level", 3) }, "TIME ERROR failed from=demo call.msg=x call.level=3\n"},
		{false, func(l *slog.Logger) { l.Info("m", "msg", "x", "level", "y", "time", 1) }, "TIME INFO  m msg=x level=y time=1\n"},
		{false, func(l *slog.Logger) { l.Debug("hidden") }, ""},
		{false, func(l *slog.Logger) { l.Info("\x1b[31mred\u202e", "v", "\x1b]0;t\a", "joiner\u034f", "\u115f") }, "TIME INFO  \ufffd[31mred\ufffd v=\"\\x1b]0;t\\a\" joiner\ufffd=\ufffd\n"},
		{false, func(l *slog.Logger) { l.Info("two\nlines", "v", "a\nb") }, "TIME INFO  \"two\\nlines\" v=\"a\\nb\"\n"},
		{true, func(l *slog.Logger) { l.Error("failed", "v", "\x1b[0m") }, "\x1b[2mTIME\x1b[0m \x1b[31mERROR\x1b[0m failed v=\"\\x1b[0m\"\n"},
	} {
		var text bytes.Buffer
		tt.log(slog.New(newConsoleHandler(&text, slog.LevelInfo, tt.colour)))
		got := regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{3}`).ReplaceAllString(text.String(), "TIME")
		if got != tt.want {
			t.Errorf("log = %q, want %q", got, tt.want)
		}
	}
}

// TestLogFormat: which format the log has where, with which environment and flags.
func TestLogFormat(t *testing.T) {
	tty := newTerminal(t)
	for _, tt := range []struct {
		w           io.Writer
		format      config.LogFormat
		environment map[string]string
		want        string
	}{
		{tty, config.LogAuto, nil, "console in colour"},
		{printable{tty}, config.LogAuto, nil, "console in colour"},
		{tty, config.LogText, nil, "console in colour"},
		{tty, config.LogAuto, map[string]string{"NO_COLOR": "1"}, "console"},
		{tty, config.LogAuto, map[string]string{"TERM": "dumb"}, "console"},
		{tty, config.LogJSON, nil, "*slog.JSONHandler"},
		{io.Discard, config.LogAuto, nil, "*slog.JSONHandler"},
		{io.Discard, config.LogJSON, nil, "*slog.JSONHandler"},
		{io.Discard, config.LogText, nil, "*slog.TextHandler"},
	} {
		log, _ := newLogger(tt.w, config.Telemetry{LogFormat: tt.format}, func(name string) string { return tt.environment[name] })
		got := fmt.Sprintf("%T", log.Handler())
		if h, ok := log.Handler().(*consoleHandler); ok {
			if got = "console"; h.console.colour {
				got += " in colour"
			}
		}
		if got != tt.want {
			t.Errorf("%s on a %T with %v: %s, want %s", tt.format, tt.w, tt.environment, got, tt.want)
		}
	}
}

// TestLogFlags: flags override the file, at each reload too.
func TestLogFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drawbridge.yaml")
	if err := os.WriteFile(file, []byte("apis: [{spec: a.yaml}]\ntelemetry: {log_level: warn, log_format: json}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{getenv: func(string) string { return "" }}
	for _, tt := range []struct{ args, format, level string }{
		{"", "json", "warn"}, {"--log-format=text", "text", "warn"}, {"--log-format=auto --log-level=debug", "auto", "debug"},
	} {
		c := p.serveCommand()
		if err := c.ParseFlags(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		p.config = file
		_, first, _, err := p.running(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, err := p.reloader(file, false, slog.New(slog.DiscardHandler))(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, cfg := range []*config.Config{first, next} {
			if got := cfg.Telemetry; string(got.LogFormat) != tt.format || string(got.LogLevel) != tt.level {
				t.Errorf("%s: %s at %s", tt.args, got.LogFormat, got.LogLevel)
			}
		}
	}
}
