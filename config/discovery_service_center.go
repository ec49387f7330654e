package config

import (
	"fmt"
	"strings"
)

// ServiceCenterDiscovery asks Apache ServiceComb service-center for its microservices, and takes their documents from it: each
// schema of a microservice is an API. An instance is called while its status is UP.
type ServiceCenterDiscovery struct {
	// The URL of the registry, such as http://127.0.0.1:30100. It may be a private address. Redirects are not followed.
	Address URL `yaml:"address" default:"http://127.0.0.1:30100"`
	// The project.
	Project string `yaml:"project" default:"default"`
	// The application (appId) whose microservices are read.
	Application string `yaml:"application,omitempty" absent:"all"`
	// The environment whose microservices are read, such as production.
	Environment string `yaml:"environment,omitempty" absent:"all"`
	// How often it is asked.
	Refresh Duration `yaml:"refresh" default:"15s" min:"1s" max:"1h" access:"none: when the registry is asked"`
	// The account, if the registry has access control.
	Username string `yaml:"username,omitempty" absent:"none" access:"none: how the gateway authenticates to the registry" pair:"password"`
	// The password of that account, which is sent to that URL alone.
	Password Secret `yaml:"password,omitempty" absent:"required with username" access:"none: secrets and keys are rotated" sends:"address: password"`
	// A file with PEM certificates that are trusted for the URL instead of the system's.
	CAFile File `yaml:"ca_file,omitempty" absent:"the system's certificates" pem:"certificates"`
}

func (d *ServiceCenterDiscovery) validate(c cursor) {
	if strings.ContainsAny(d.Project, "/?#%") || checkText(d.Project) != nil {
		c.check("project", fmt.Errorf("must be the name of a project, got %s", quote(d.Project)))
	}
}

func (d *ServiceCenterDiscovery) registrations(string) registrations {
	r := registrations{basePathKey: metadataBasePath}
	if d.Application != "" {
		r.namespaces = []string{d.Application}
	}
	return r
}
