package providers

import (
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
	switch {
	case d.File != nil:
		return filesd.New(d.File), nil
	case d.Consul != nil:
		return newConsul(d, o)
	case d.Kubernetes != nil:
		return newKubernetes(d, o)
	case d.Docker != nil:
		return newDocker(d, o)
	case d.APICatalog != nil:
		return newAPICatalog(d, o)
	case d.DNS != nil:
		return dns.New(d.DNS), nil
	case d.Eureka != nil:
		return newEureka(d, o)
	case d.Nacos != nil:
		return newNacos(d, o)
	case d.ServiceCenter != nil:
		return newServiceCenter(d, o)
	}
	return newHTTP(d, o)
}

func newHTTP(d *config.Discovery, o Options) (discovery.Provider, error) {
	u, err := o.client(d.Name, d.HTTP.URL.URL(), d.HTTP.CAFile)
	if err != nil {
		return nil, err
	}
	u.Timeout, u.FirstByte, u.MaxBytes = time.Duration(config.DefaultLimits().Timeout), headerTime(), targetgroup.MaxSize+1
	u.Proxy = upstream.ConfiguredProxy(d.HTTP.Proxy)
	return httpsd.New(d.HTTP, upstream.NewClient(u)), nil
}

// newConsul makes a client without time limits: each query has one, and many wait for minutes.
func newConsul(d *config.Discovery, o Options) (discovery.Provider, error) {
	u, err := o.client(d.Name, d.Consul.Address.URL(), d.Consul.CAFile)
	if err != nil {
		return nil, err
	}
	return consul.New(d.Consul, upstream.NewClient(u)), nil
}

func newAPICatalog(d *config.Discovery, o Options) (discovery.Provider, error) {
	u, err := o.client(d.Name, d.APICatalog.URL.URL(), d.APICatalog.CAFile)
	if err != nil {
		return nil, err
	}
	u.FirstByte = headerTime()
	return apicatalog.New(d.APICatalog, upstream.NewClient(u)), nil
}

func newServiceCenter(d *config.Discovery, o Options) (discovery.Provider, error) {
	u, err := o.client(d.Name, d.ServiceCenter.Address.URL(), d.ServiceCenter.CAFile)
	if err != nil {
		return nil, err
	}
	u.FirstByte = headerTime()
	return servicecenter.New(d.ServiceCenter, upstream.NewClient(u)), nil
}

func newNacos(d *config.Discovery, o Options) (discovery.Provider, error) {
	u, err := o.client(d.Name, d.Nacos.Address.URL(), d.Nacos.CAFile)
	if err != nil {
		return nil, err
	}
	u.FirstByte = headerTime()
	return nacos.New(d.Nacos, upstream.NewClient(u)), nil
}

func newEureka(d *config.Discovery, o Options) (discovery.Provider, error) {
	u, err := o.client(d.Name, d.Eureka.URL.URL(), d.Eureka.CAFile)
	if err != nil {
		return nil, err
	}
	u.FirstByte = headerTime()
	return eureka.New(d.Eureka, upstream.NewClient(u)), nil
}

// newKubernetes makes a client without limits of time and size for a body: the provider's requests have deadlines, and watches
// go on without end.
func newKubernetes(d *config.Discovery, o Options) (discovery.Provider, error) {
	cluster, err := kubernetes.NewCluster(d.Kubernetes)
	if err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	u, err := o.client(d.Name, cluster.Server, "")
	if err != nil {
		return nil, err
	}
	u.RootCAs, u.TLS, u.FirstByte = cluster.RootCAs, cluster.TLS, headerTime()
	return kubernetes.New(d.Kubernetes, cluster, upstream.NewClient(u)), nil
}

// newDocker makes a client without limits of time and size for a body: events come without end.
func newDocker(d *config.Discovery, o Options) (discovery.Provider, error) {
	c := d.Docker
	u, err := o.client(d.Name, c.Host.URL(), c.CAFile)
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
	_, roots, err := upstream.ReadRoots(authorities.String())
	limits := config.DefaultLimits()
	return upstream.Options{
		Name: name, BaseURL: base, Connect: time.Duration(limits.ConnectTimeout), TLSHandshake: time.Duration(limits.TLSTimeout),
		MaxRatio: int64(limits.MaxRatio), RootCAs: roots, UserAgent: "drawbridge/" + o.Version, OnPanic: o.OnPanic,
	}, err
}
