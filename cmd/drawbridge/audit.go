package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/gateway/audit"
)

// auditing runs the audit log; the zero value has none.
type auditing struct {
	log   *audit.Log
	stop  context.CancelFunc
	ended chan error
}

// newAudit opens the audit log of a configuration and starts writing. stdout is nil if it is used
// otherwise. end must be called.
func newAudit(cfg *config.Config, stdout io.Writer, log *slog.Logger, metrics prometheus.Registerer) (*auditing, error) {
	c := cfg.Audit
	if c == nil {
		return &auditing{}, nil
	}
	switch {
	case c.OTLP:
		var err error
		if stdout, err = newAuditExporter(&cfg.Telemetry); err != nil {
			return nil, usageError{cfg.Wrong("audit.otlp", err), nil}
		}
	case c.File == "" && stdout == nil:
		return nil, usageError{cfg.Wrong("audit.file", errors.New("is required: standard output is for the client")), nil}
	}
	replica, err := os.Hostname()
	if err != nil {
		log.Warn("the audit log does not name this replica", "error", err)
	}
	o := audit.Options{
		Path: c.File.String(), Output: stdout, Key: []byte(c.HashKey.Reveal()), NoDigest: c.Arguments == config.ArgumentsNone, NoRefusals: !c.Refusals,
		Drop: c.WhenFull == config.FullDrop, Buffer: c.Buffer, Replica: replica, Logger: log, Metrics: metrics,
	}
	switch c.Subject {
	case config.SubjectHash:
		o.Subject = audit.HashedSubject
	case config.SubjectPlain:
		o.Subject = audit.PlainSubject
	case config.SubjectNone:
		o.Subject = audit.NoSubject
	}
	for _, field := range c.Fields {
		o.Fields = append(o.Fields, field.String())
	}
	a := &auditing{ended: make(chan error, 1)}
	if a.log, err = audit.New(o); err != nil {
		return nil, usageError{cfg.Wrong("audit.file", err), nil}
	}
	// The log is independent of ctx: the last calls end later, and each has a line.
	ctx, stop := context.WithCancel(context.Background())
	a.stop = stop
	go func() { a.ended <- a.log.Run(ctx) }()
	return a, nil
}

// reopen reopens the file.
func (a *auditing) reopen() {
	if a != nil && a.log != nil {
		a.log.Reopen()
	}
}

// auditEnd is the time limit for writing the lines of the last calls; a blocked reader of standard
// output must not keep the program from ending.
const auditEnd = 6 * time.Second

// end writes the remaining lines, when all calls have ended.
func (a *auditing) end(log *slog.Logger) {
	if a.log == nil {
		return
	}
	a.stop()
	select {
	case <-a.ended: //nolint:errcheck // losses are in the log
	case <-time.After(auditEnd):
		log.Error("the audit log did not shut down in time: lines may be lost")
	}
}
