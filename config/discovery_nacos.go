package config

import (
	"fmt"
	"strings"
)

// NacosDiscovery asks a Nacos server, of version 1, 2 or 3, for its services. An instance is called while it is healthy and enabled.
type NacosDiscovery struct {
	// The URL of a server, with its context path. It may be a private address. Redirects are not followed.
	Address URL `yaml:"address" default:"http://127.0.0.1:8848/nacos"`
	// The namespace: its ID, not its name.
	Namespace string `yaml:"namespace" default:"public"`
	// The groups whose services are read. The group is the namespace of a service.
	Groups []string `yaml:"groups" default:"[DEFAULT_GROUP]" empty:"it needs at least one group" unique:"%s is given twice"`
	// How often it is asked.
	Refresh Duration `yaml:"refresh" default:"15s" min:"1s" max:"1h" access:"none: when the registry is asked"`
	// The user, if the server has authentication.
	Username string `yaml:"username,omitempty" absent:"none" access:"none: how the gateway authenticates to the registry" pair:"password"`
	// The password of that user, which is sent to that URL alone.
	Password Secret `yaml:"password,omitempty" absent:"required with username" access:"none: secrets and keys are rotated" sends:"address: password"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
}

func (d *NacosDiscovery) validate(c cursor) {
	for i, group := range d.Groups {
		if checkText(group) != nil || strings.Contains(group, "@@") {
			c.check(c.item("groups", i), fmt.Errorf("%s is not the name of a group", quote(group)))
		}
	}
}

func (d *NacosDiscovery) registrations(string) registrations {
	return registrations{namespaces: d.Groups, basePathKey: metadataBasePath}
}
