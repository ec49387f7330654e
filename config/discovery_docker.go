package config

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"drawbridge/openapi/origin"
)

// DockerDiscovery finds containers with the label drawbridge.service. A container is an instance while it runs and is not
// unhealthy.
type DockerDiscovery struct {
	// The Docker daemon: unix:///PATH, http://HOST:PORT or https://HOST:PORT.
	Host DockerHost `yaml:"host" default:"unix:///var/run/docker.sock"`
	// The network whose addresses of containers are used, by its full name, such as shop_default.
	Network string `yaml:"network,omitempty" absent:"ports that containers publish"`
	// How often the containers are listed although no change was reported.
	Refresh Duration `yaml:"refresh" default:"1m" min:"1s" max:"1h" access:"none: when the registry is asked"`
	// A file with PEM certificates that are trusted for an https host instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
	// A PEM file with the gateway's certificate for an https host, and the intermediate certificates.
	CertFile File `yaml:"cert_file,omitempty" absent:"none" access:"none: how the gateway authenticates to the registry" pair:"key_file"`
	// A PEM file with the unencrypted private key of cert_file. It may be the same file.
	KeyFile File `yaml:"key_file,omitempty" absent:"none" access:"none: how the gateway authenticates to the registry"`
}

// DockerHost is the address of a Docker daemon: unix:///PATH, or a URL with http or https, without a path.
type DockerHost struct {
	raw    string
	socket string
	url    *url.URL
}

// String returns the address as it was written.
func (h DockerHost) String() string { return h.raw }

// MarshalText returns the address as it was written.
func (h DockerHost) MarshalText() ([]byte, error) { return []byte(h.raw), nil }

// Socket returns the path of the Unix domain socket; "" if the daemon has a URL.
func (h DockerHost) Socket() string { return h.socket }

// URL returns the URL of the daemon. At a Unix domain socket its host is a name that has no address.
func (h DockerHost) URL() *url.URL {
	if h.url == nil {
		return &url.URL{Scheme: "http", Host: "docker.invalid"}
	}
	c := *h.url
	return &c
}

func (h *DockerHost) parse(text string) error {
	if path, ok := strings.CutPrefix(text, "unix://"); ok {
		if !filepath.IsAbs(path) || strings.ContainsAny(path, "\x00?#") {
			return errors.New("must be unix:// and the absolute path of a socket")
		}
		*h = DockerHost{raw: text, socket: path}
		return nil
	}
	if strings.HasPrefix(text, "tcp://") {
		return errors.New("must be unix:///PATH, http://HOST:PORT or https://HOST:PORT; tcp:// stands for http, or https with TLS")
	}
	u, err := parseHTTP(text)
	switch {
	case err != nil:
		return errors.New("must be unix:///PATH, http://HOST:PORT or https://HOST:PORT")
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery:
		return errors.New("must not have a path or a query")
	}
	u.Path = ""
	*h = DockerHost{raw: text, url: u}
	return nil
}

func (d *DockerDiscovery) validate(c cursor) {
	files := []struct {
		name string
		path File
	}{{"ca_file", d.CAFile}, {"cert_file", d.CertFile}, {"key_file", d.KeyFile}}
	c.authority(c.path("ca_file"), d.CAFile)
	c.authority(c.path("cert_file"), d.CertFile)
	c.keyFile(c.path("key_file"), d.KeyFile)
	if checkText(d.Network) != nil {
		c.check("network", fmt.Errorf("%s is not the name of a network", quote(d.Network)))
	}
	if !c.ok("host") {
		return
	}
	u := d.Host.url
	for _, f := range files {
		if (u == nil || u.Scheme != "https") && f.path != "" && c.ok(f.name) {
			c.errorf(f.name, "is for an https host, got %s", quote(d.Host.raw))
		}
	}
	if u != nil && u.Scheme == "http" && !origin.Loopback(u.Hostname()) {
		c.warnf("host", "without TLS, everyone in the network between can answer for the daemon; use https")
	}
}

func (*DockerDiscovery) registrations(string) registrations {
	return registrations{namespaces: []string{""}, mayOmitNamespace: true, basePathKey: "the label drawbridge.base_path", isTrusted: true}
}
