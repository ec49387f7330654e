package providers

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"drawbridge/auth/credential"
	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/gateway/discovery/apicatalog"
	"drawbridge/gateway/discovery/consul"
	"drawbridge/gateway/discovery/dns"
	"drawbridge/gateway/discovery/docker"
	"drawbridge/gateway/discovery/eureka"
	"drawbridge/gateway/discovery/filesd"
	"drawbridge/gateway/discovery/httpsd"
	"drawbridge/gateway/discovery/kubernetes"
	"drawbridge/gateway/discovery/nacos"
	"drawbridge/gateway/discovery/servicecenter"
	"drawbridge/gateway/discovery/targetgroup"
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
	switch r := d.Registry().(type) {
	case *config.FileDiscovery:
		return filesd.New(r), nil
	case *config.HTTPDiscovery:
		return newHTTP(d.Name, r, o)
	case *config.ConsulDiscovery:
		return newConsul(d.Name, r, o)
	case *config.KubernetesDiscovery:
		return newKubernetes(d.Name, r, o)
	case *config.DockerDiscovery:
		return newDocker(d.Name, r, o)
	case *config.APICatalogDiscovery:
		return polled(o, d.Name, r.URL, r.CAFile, func(c discovery.Client) discovery.Provider { return apicatalog.New(r, c) })
	case *config.DNSDiscovery:
		return dns.New(r), nil
	case *config.EurekaDiscovery:
		return polled(o, d.Name, r.URL, r.CAFile, func(c discovery.Client) discovery.Provider { return eureka.New(r, c) })
	case *config.NacosDiscovery:
		return polled(o, d.Name, r.Address, r.CAFile, func(c discovery.Client) discovery.Provider { return nacos.New(r, c) })
	case *config.ServiceCenterDiscovery:
		return polled(o, d.Name, r.Address, r.CAFile, func(c discovery.Client) discovery.Provider { return servicecenter.New(r, c) })
	}
	return nil, fmt.Errorf("%w %q", errUnknownKind, d.Kind())
}

// errUnknownKind is the error for a kind of registry that [New] has no case for, which a test excludes.
var errUnknownKind = errors.New("no provider of the kind")

// polled makes a provider that asks a URL again and again, with a time limit for the header of each response.
func polled(o Options, name string, at config.URL, authorities config.File, provider func(discovery.Client) discovery.Provider) (discovery.Provider, error) {
	u, err := o.client(name, at.URL(), authorities)
	if err != nil {
		return nil, err
	}
	u.FirstByte = headerTime()
	return provider(upstream.NewClient(u)), nil
}

func newHTTP(name string, c *config.HTTPDiscovery, o Options) (discovery.Provider, error) {
	u, err := o.client(name, c.URL.URL(), c.CAFile)
	if err != nil {
		return nil, err
	}
	u.Timeout, u.FirstByte, u.MaxBytes = time.Duration(config.DefaultLimits().Timeout), headerTime(), targetgroup.MaxSize+1
	u.Proxy = upstream.ConfiguredProxy(c.Proxy)
	return httpsd.New(c, upstream.NewClient(u)), nil
}

// newConsul makes a client without time limits: each query has one, and many wait for minutes.
func newConsul(name string, c *config.ConsulDiscovery, o Options) (discovery.Provider, error) {
	u, err := o.client(name, c.Address.URL(), c.CAFile)
	if err != nil {
		return nil, err
	}
	return consul.New(c, upstream.NewClient(u)), nil
}

// newKubernetes makes a client without limits of time and size for a body: the provider's requests have deadlines, and watches
// go on without end.
func newKubernetes(name string, c *config.KubernetesDiscovery, o Options) (discovery.Provider, error) {
	cluster, err := kubernetes.NewCluster(c)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	u, err := o.client(name, cluster.Server, "")
	if err != nil {
		return nil, err
	}
	u.RootCAs, u.TLS, u.FirstByte = cluster.RootCAs, cluster.TLS, headerTime()
	return kubernetes.New(c, cluster, upstream.NewClient(u)), nil
}

// newDocker makes a client without limits of time and size for a body: events come without end.
func newDocker(name string, c *config.DockerDiscovery, o Options) (discovery.Provider, error) {
	u, err := o.client(name, c.Host.URL(), c.CAFile)
	if err != nil {
		return nil, err
	}
	u.Socket, u.FirstByte = c.Host.Socket(), headerTime()
	if c.CertFile != "" {
		certificate, err := credential.NewClientCertificate(credential.CertificateOptions{
			Origin: c.Host.URL(), CertFile: c.CertFile.String(), KeyFile: c.KeyFile.String(), CAFile: c.CAFile.String(), RootCAs: u.RootCAs,
		})
		if err != nil {
			return nil, err
		}
		u.TLS = certificate.Config
	}
	return docker.New(c, upstream.NewClient(u)), nil
}

// headerTime is the time that a registry has for the header of a response.
func headerTime() time.Duration { return time.Duration(config.DefaultLimits().FirstByteTimeout) }

// client returns the options that clients of all registries have.
func (o Options) client(name string, base *url.URL, authorities config.File) (upstream.Options, error) {
	_, roots, err := upstream.ReadRoots(authorities.String(), nil)
	limits := config.DefaultLimits()
	return upstream.Options{
		Name: name, BaseURL: base, Connect: time.Duration(limits.ConnectTimeout), TLSHandshake: time.Duration(limits.TLSTimeout),
		MaxRatio: int64(limits.MaxRatio), RootCAs: roots, UserAgent: "drawbridge/" + o.Version, OnPanic: o.OnPanic,
	}, err
}
