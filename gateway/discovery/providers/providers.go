package providers

import (
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/filesd"
	"drawbridge/gateway/discovery/httpsd"
	"drawbridge/gateway/discovery/targetgroup"
	"drawbridge/gateway/egress"
	"drawbridge/gateway/upstream"
)

// Options are what providers share.
type Options struct {
	// Version is the program version in the User-Agent header.
	Version string
	// OnPanic is called for a panic that was recovered.
	OnPanic func(what string, v any)
}

// New makes the provider of an item of the configuration. It sends nothing before Run.
func New(d *config.Discovery, o Options) (discovery.Provider, error) {
	if d.File != nil {
		return filesd.New(d.File), nil
	}
	_, roots, err := upstream.ReadRoots(d.HTTP.CAFile.String())
	if err != nil {
		return nil, err
	}
	limits := config.DefaultLimits()
	client := upstream.NewClient(upstream.Options{
		Name: d.Name, BaseURL: d.HTTP.URL.URL(), Timeout: time.Duration(limits.Timeout), Connect: time.Duration(limits.ConnectTimeout),
		TLSHandshake: time.Duration(limits.TLSTimeout), FirstByte: time.Duration(limits.FirstByteTimeout),
		MaxBytes: targetgroup.MaxSize + 1, MaxRatio: int64(limits.MaxRatio), RootCAs: roots, Proxy: egress.Proxy(d.HTTP.Proxy), UserAgent: "drawbridge/" + o.Version, OnPanic: o.OnPanic,
	})
	return httpsd.New(d.HTTP, client), nil
}
