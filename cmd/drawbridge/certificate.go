package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
)

// certificate is the listener's own certificate. It is read again when its files change, and at every reload; a pair that
// can't be used leaves the last good one in place (O11). Connections that are open keep the certificate that they have
// seen. All methods are safe for concurrent use.
type certificate struct {
	files   *config.TLS
	watcher *config.Watcher
	log     *slog.Logger
	current atomic.Pointer[tls.Config]

	mu sync.Mutex // one reading at a time

	expiry  prometheus.Gauge
	reloads *prometheus.CounterVec // outcome
}

// newCertificate reads the certificate, and registers its metrics. It starts nothing.
func newCertificate(files *config.TLS, log *slog.Logger, metrics prometheus.Registerer) (*certificate, error) {
	c := &certificate{
		files: files, log: log,
		// Made before the files are read, so that no change is missed.
		watcher: config.NewWatcher([]string{files.CertFile.String(), files.KeyFile.String()}),
	}
	c.expiry, c.reloads = certificateMetrics()
	pair, err := files.Certificate()
	if err != nil {
		return nil, err
	}
	c.use(pair)
	metrics.MustRegister(c.expiry, c.reloads)
	for _, outcome := range []string{"ok", "failed"} {
		c.reloads.WithLabelValues(outcome)
	}
	return c, nil
}

func certificateMetrics() (prometheus.Gauge, *prometheus.CounterVec) {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_tls_certificate_expiry_timestamp_seconds",
			Help: "When the certificate in use expires, in seconds since 1970."}),
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tls_certificate_reloads_total",
			Help: "Readings of a changed certificate by outcome: ok or failed."}, []string{"outcome"})
}

// run reads the certificate again when its files change, until ctx is done.
func (c *certificate) run(ctx context.Context) error {
	return c.watcher.Run(ctx, func(string) { c.reload() })
}

// reload reads the files. Files that hold what is in use already change nothing.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	pair, err := c.files.Certificate()
	if err != nil {
		c.reloads.WithLabelValues("failed").Inc()
		c.log.Warn("certificate can't be used, the last good one stays", "error", err, "expires", c.leafExpiry())
		return
	}
	if c.holds(pair) {
		return
	}
	c.use(pair)
	c.reloads.WithLabelValues("ok").Inc()
	c.log.Info("certificate in use", "expires", pair.Leaf.NotAfter, "names", pair.Leaf.DNSNames, "serial", pair.Leaf.SerialNumber.Text(16))
	if time.Now().After(pair.Leaf.NotAfter) {
		c.log.Warn("the certificate is expired", "expires", pair.Leaf.NotAfter)
	}
}

func (c *certificate) holds(pair *tls.Certificate) bool {
	chain := c.current.Load().Certificates[0].Certificate
	if len(chain) != len(pair.Certificate) {
		return false
	}
	for i := range chain {
		if !bytes.Equal(chain[i], pair.Certificate[i]) {
			return false
		}
	}
	return true
}

func (c *certificate) leafExpiry() time.Time { return c.current.Load().Certificates[0].Leaf.NotAfter }

// use makes the pair that of all new connections. Each pair has keys of its own for session tickets: one who comes back
// with a ticket would otherwise go on with the certificate that was in use then.
func (c *certificate) use(pair *tls.Certificate) {
	t := &tls.Config{
		MinVersion:   tls.VersionTLS12, // also if GODEBUG has another mind
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{*pair},
	}
	t.WrapSession = t.EncryptTicket
	t.UnwrapSession = t.DecryptTicket
	c.current.Store(t)
	c.expiry.Set(float64(pair.Leaf.NotAfter.Unix()))
}

// config is what a listener is given.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil },
	}
}
