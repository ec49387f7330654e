package config

import (
	"fmt"
	"slices"
	"strings"
)

// ConsulDiscovery watches the catalog of Consul. A service is served while one of its instances passes all its checks.
type ConsulDiscovery struct {
	// The URL of an agent or a server. It may be a private address. Redirects are not followed.
	Address URL `yaml:"address" default:"http://127.0.0.1:8500"`
	// An ACL token with service:read and node:read, which is sent to that URL alone.
	Token Secret `yaml:"token,omitempty" absent:"no token" access:"none: secrets and keys are rotated"`
	// The datacenter.
	Datacenter string `yaml:"datacenter,omitempty" absent:"that of the agent"`
	// The namespace (Consul Enterprise), which is the namespace of the services.
	Namespace string `yaml:"namespace,omitempty" absent:"that of the token"`
	// The admin partition (Consul Enterprise).
	Partition string `yaml:"partition,omitempty" absent:"that of the agent"`
	// Tags, all of which an instance must have.
	Tags []string `yaml:"tags,omitempty" absent:"any"`
	// Metadata by name, all of which an instance must have with that value.
	Meta map[string]string `yaml:"meta,omitempty" absent:"any"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates"`
	// How long a query waits for a change. With 100 services or more, queries for instances wait 1s.
	Wait Duration `yaml:"wait" default:"5m" min:"1s" max:"10m" access:"none: when the registry is asked"`
}

func (c *ConsulDiscovery) validate(l *loader, key string) {
	l.authority(key+".ca_file", c.CAFile)
	l.clearToken(key, "address", c.Address, c.Token)
	for name, value := range map[string]string{"datacenter": c.Datacenter, "namespace": c.Namespace, "partition": c.Partition} {
		if at := key + "." + name; l.given(at) && l.ok(at) && (value == "" || value == "*" || checkToken(value) != nil) {
			l.errorf(at, "%s is not a name", quote(value))
		}
	}
	for i, tag := range c.Tags {
		if at := fmt.Sprintf("%s.tags[%d]", key, i); l.ok(at) && (tag == "" || checkText(tag) != nil) {
			l.errorf(at, "%s is not a tag", quote(tag))
		} else if slices.Contains(c.Tags[:i], tag) {
			l.errorf(at, "%s is given twice", quote(tag))
		}
	}
	for name := range c.Meta {
		if at := join(key+".meta", name); l.ok(at) && (name == "" || strings.Trim(name, metaNameCharacters) != "") {
			l.errorf(at, "%s is not a name of metadata: letters, digits, _ and -", quote(name))
		}
	}
}

// metaNameCharacters are those of names of metadata in Consul.
const metaNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func (c *ConsulDiscovery) namespaces(string) []string { return []string{c.Namespace} }

func (*ConsulDiscovery) mayOmitNamespace() bool { return false }

func (*ConsulDiscovery) basePathKey() string { return metadataBasePath }

func (*ConsulDiscovery) isTrusted() bool { return false }
