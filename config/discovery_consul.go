package config

import (
	"fmt"
	"strings"
)

// ConsulDiscovery watches the catalog of Consul. A service is served while one of its instances passes all its checks.
type ConsulDiscovery struct {
	// The URL of an agent or a server. It may be a private address. Redirects are not followed.
	Address URL `yaml:"address" default:"http://127.0.0.1:8500"`
	// An ACL token with service:read and node:read, which is sent to that URL alone.
	Token Secret `yaml:"token,omitempty" absent:"no token" access:"none: secrets and keys are rotated" is:"token" sends:"address: token"`
	// The datacenter.
	Datacenter string `yaml:"datacenter,omitempty" absent:"that of the agent"`
	// The namespace (Consul Enterprise), which is the namespace of the services.
	Namespace string `yaml:"namespace,omitempty" absent:"that of the token"`
	// The admin partition (Consul Enterprise).
	Partition string `yaml:"partition,omitempty" absent:"that of the agent"`
	// Tags, all of which an instance must have.
	Tags []string `yaml:"tags,omitempty" absent:"any" unique:"%s is given twice"`
	// Metadata by name, all of which an instance must have with that value.
	Meta map[string]string `yaml:"meta,omitempty" absent:"any"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
	// How long a query waits for a change. With 100 services or more, queries for instances wait 1s.
	Wait Duration `yaml:"wait" default:"5m" min:"1s" max:"10m" access:"none: when the registry is asked"`
}

func (d *ConsulDiscovery) validate(c cursor) {
	for name, value := range map[string]string{"datacenter": d.Datacenter, "namespace": d.Namespace, "partition": d.Partition} {
		if value == "*" || checkToken(value) != nil {
			c.check(name, fmt.Errorf("%s is not a name", quote(value)))
		}
	}
	for i, tag := range d.Tags {
		if checkText(tag) != nil {
			c.check(c.item("tags", i), fmt.Errorf("%s is not a tag", quote(tag)))
		}
	}
	for name := range d.Meta {
		if name == "" || strings.Trim(name, metaNameCharacters) != "" {
			c.check(join("meta", name), fmt.Errorf("%s is not a name of metadata: letters, digits, _ and -", quote(name)))
		}
	}
}

// metaNameCharacters are those of names of metadata in Consul.
const metaNameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func (d *ConsulDiscovery) registrations(string) registrations {
	return registrations{namespaces: []string{d.Namespace}, basePathKey: metadataBasePath}
}
