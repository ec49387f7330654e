package providers

import (
	"fmt"
	"time"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/filesd"
	"drawbridge/gateway/discovery/httpsd"
	"drawbridge/gateway/discovery/kubernetes"
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
	switch {
	case d.File != nil:
		return filesd.New(d.File), nil
	case d.Kubernetes != nil:
		return newKubernetes(d, o)
	}
	_, roots, err := upstream.ReadRoots(d.HTTP.CAFile.String())
	if err != nil {
		return nil, err
	}
	client := clientOptions(d, o)
	client.BaseURL, client.RootCAs, client.MaxBytes, client.Proxy = d.HTTP.URL.URL(), roots, targetgroup.MaxSize+1, egress.Proxy(d.HTTP.Proxy)
	return httpsd.New(d.HTTP, upstream.NewClient(client)), nil
}

// newKubernetes makes the provider of a cluster. Its watches have no end that their size or the client's timeout sets.
func newKubernetes(d *config.Discovery, o Options) (discovery.Provider, error) {
	cluster, err := kubernetes.NewCluster(d.Kubernetes)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	client := clientOptions(d, o)
	client.BaseURL, client.RootCAs, client.TLS = cluster.Server, cluster.RootCAs, cluster.TLS
	client.Timeout = 0 // the provider's requests have deadlines
	return kubernetes.New(d.Kubernetes, cluster, upstream.NewClient(client)), nil
}

// clientOptions are those of any client that asks a registry.
func clientOptions(d *config.Discovery, o Options) upstream.Options {
	limits := config.DefaultLimits()
	return upstream.Options{
		Name: d.Name, Timeout: time.Duration(limits.Timeout), Connect: time.Duration(limits.ConnectTimeout),
		TLSHandshake: time.Duration(limits.TLSTimeout), FirstByte: time.Duration(limits.FirstByteTimeout),
		MaxRatio: int64(limits.MaxRatio), UserAgent: "drawbridge/" + o.Version, OnPanic: o.OnPanic,
	}
}
