package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"drawbridge/config"
	"drawbridge/gateway/filewatch"
)

// certificate is the listener's certificate, with the authorities for client certificates. The
// files are reloaded when they change, and at every reload. An unusable pair or authorities file
// leaves the last usable version in place (O11). Open connections are not affected. All methods are
// safe for concurrent use.
type certificate struct {
	files   *config.TLS
	watcher *filewatch.Watcher
	log     *slog.Logger
	current atomic.Pointer[tls.Config]

	mu sync.Mutex // serializes reloads

	expiry  prometheus.Gauge
	reloads *prometheus.CounterVec // by outcome
}

// newCertificate reads the certificate, and registers its metrics. It starts no goroutine.
func newCertificate(files *config.TLS, log *slog.Logger, metrics prometheus.Registerer) (*certificate, error) {
	c := &certificate{
		files: files, log: log,
		// Created before the files are read, so that no change is missed.
		watcher: filewatch.New(files.Files(), filewatch.Options{}),
	}
	c.expiry, c.reloads = certificateMetrics()
	read := files.Certificates()
	if err := errors.Join(read.OwnErr, read.ClientCAsErr); err != nil {
		return nil, err
	}
	c.use(read.Own, read.ClientCAs)
	metrics.MustRegister(c.expiry, c.reloads)
	for _, outcome := range []string{"ok", "failed"} {
		c.reloads.WithLabelValues(outcome)
	}
	return c, nil
}

func certificateMetrics() (prometheus.Gauge, *prometheus.CounterVec) {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: "drawbridge_tls_certificate_expiry_timestamp_seconds",
			Help: "Expiry of the certificate in use."}),
		prometheus.NewCounterVec(prometheus.CounterOpts{Name: "drawbridge_tls_certificate_reloads_total",
			Help: "Attempts to load a changed certificate by outcome: ok or failed."}, []string{"outcome"})
}

// run reloads the certificate when its files change, until ctx is done.
func (c *certificate) run(ctx context.Context) error {
	return c.watcher.Run(ctx, func(string) { c.reload() })
}

// reload reads the files. Unchanged content has no effect.
func (c *certificate) reload() {
	c.mu.Lock()
	defer c.mu.Unlock()
	read, current := c.files.Certificates(), c.current.Load()
	own, authorities := read.Own, read.ClientCAs
	if read.OwnErr != nil {
		own = &current.Certificates[0]
		c.log.Warn("certificate can't be used; the last good one stays in use", "error", read.OwnErr, "expires", own.Leaf.NotAfter)
	}
	if read.ClientCAsErr != nil {
		authorities = current.ClientCAs
		c.log.Warn("client CA certificates can't be used; the last good ones stay in use", "error", read.ClientCAsErr)
	}
	if read.OwnErr != nil || read.ClientCAsErr != nil {
		c.reloads.WithLabelValues("failed").Inc()
	}
	if slices.EqualFunc(current.Certificates[0].Certificate, own.Certificate, bytes.Equal) && current.ClientCAs.Equal(authorities) {
		return
	}
	c.use(own, authorities)
	c.reloads.WithLabelValues("ok").Inc()
	c.log.Info("certificate in use", "expires", own.Leaf.NotAfter, "names", own.Leaf.DNSNames, "serial", own.Leaf.SerialNumber.Text(16), "asks_clients", authorities != nil)
	if time.Now().After(own.Leaf.NotAfter) {
		c.log.Warn("the certificate is expired", "expires", own.Leaf.NotAfter)
	}
}

// use sets the certificate and, if any, the authorities for all new connections. Each version has
// its own session ticket keys: otherwise a client that resumes a session would continue with the
// old certificate, and with its own client certificate, whoever issued it.
func (c *certificate) use(own *tls.Certificate, authorities *x509.CertPool) {
	t := &tls.Config{
		MinVersion:   tls.VersionTLS12, // independent of GODEBUG
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{*own},
	}
	if authorities != nil {
		t.ClientAuth, t.ClientCAs = tls.RequireAndVerifyClientCert, authorities
	}
	t.WrapSession = t.EncryptTicket
	t.UnwrapSession = t.DecryptTicket
	c.current.Store(t)
	c.expiry.Set(float64(own.Leaf.NotAfter.Unix()))
}

// config returns the TLS configuration of a listener.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load(), nil },
	}
}
