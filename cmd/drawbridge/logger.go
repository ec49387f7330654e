package main

import (
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"drawbridge/cmd/drawbridge/terminal"
	"drawbridge/config"
)

// logOptions are the flags that override the configuration's log; an empty one was not given.
type logOptions struct {
	format config.LogFormat
	level  config.LogLevel
}

func (o *logOptions) flags(c *cobra.Command) {
	c.Flags().Func("log-format", "`FORMAT` of the log: auto, json or text; overrides telemetry.log_format", func(text string) (err error) {
		o.format, err = config.ParseLogFormat(text)
		return err
	})
	complete(c, "log-format", fixedValues("auto", "json", "text"))
	c.Flags().Func("log-level", "minimum `LEVEL` of the log: debug, info, warn or error; overrides telemetry.log_level", func(text string) (err error) {
		o.level, err = config.ParseLogLevel(text)
		return err
	})
}

// override puts the flags that were given into a configuration.
func (o *logOptions) override(t *config.Telemetry) {
	if o.format != "" {
		t.LogFormat = o.format
	}
	if o.level != "" {
		t.LogLevel = o.level
	}
}

// logLevel is the least severe level that is written, which a reload may change.
type logLevel struct{ slog.LevelVar }

func (l *logLevel) follow(c *config.Config) { l.Set(c.Telemetry.LogLevel.Level()) }

// colours reports whether a terminal is written to in colours (https://no-color.org).
func colours(getenv func(string) string) bool {
	return getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
}

// newLogger returns the logger on standard error. On a terminal it is for people, unless the format is JSON.
func newLogger(w io.Writer, t config.Telemetry, getenv func(string) string) (*slog.Logger, *logLevel) {
	level := &logLevel{}
	level.Set(t.LogLevel.Level())
	o := &slog.HandlerOptions{Level: level}
	unfiltered := w
	if p, ok := w.(printable); ok {
		unfiltered = p.w
	}
	if screen := terminal.Of(unfiltered); screen != nil && t.LogFormat != config.LogJSON {
		return slog.New(newConsoleHandler(screen, level, colours(getenv))), level
	}
	if t.LogFormat == config.LogText {
		return slog.New(slog.NewTextHandler(w, o)), level
	}
	return slog.New(slog.NewJSONHandler(w, o)), level
}
