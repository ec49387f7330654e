package config

import (
	"slices"

	"go.yaml.in/yaml/v4"
)

// Service is a service as a provider of [Config.Discovery] describes it.
type Service struct {
	// Name is the service's name at its registry. It is unique within the namespace.
	Name string
	// Alias takes the place of Name in the API's name, and nowhere else: the registration chooses it.
	Alias string
	// Namespace is the part of the registry that the service is in; "" in a registry without namespaces.
	Namespace string
	// Tags are the service's tags.
	Tags []string
	// Labels are what else the registration says, by name.
	Labels map[string]string
}

// ServiceSelectors is a list of selectors. In a file, a single one may stand for a list of one.
type ServiceSelectors []ServiceSelector

func (ServiceSelectors) single() (kind yaml.Kind, noun string) { return yaml.MappingNode, "selector" }

// Match reports whether one of the selectors matches.
func (ss ServiceSelectors) Match(s *Service) bool {
	return slices.ContainsFunc(ss, func(sel ServiceSelector) bool { return sel.Match(s) })
}

// ServiceSelector picks services. All keys that are given must match, and a key matches if one of its patterns does. In a
// pattern, * stands for any characters but /.
type ServiceSelector struct {
	// The service's name at its registry.
	Name Patterns `yaml:"name,omitempty" absent:"any"`
	// The namespace of the service.
	Namespace Patterns `yaml:"namespace,omitempty" absent:"any"`
	// One of the service's tags.
	Tag Patterns `yaml:"tag,omitempty" absent:"any"`
	// Labels by their names, all of which the service must have.
	Labels map[string]Patterns `yaml:"labels,omitempty" absent:"any"`
}

// Match reports whether the selector matches. The zero ServiceSelector matches nothing.
func (sel ServiceSelector) Match(s *Service) bool {
	if sel.empty() || !sel.Name.allow(s.Name) || !sel.Namespace.allow(s.Namespace) ||
		len(sel.Tag) > 0 && !slices.ContainsFunc(s.Tags, sel.Tag.allow) {
		return false
	}
	for name, patterns := range sel.Labels {
		if value, ok := s.Labels[name]; !ok || !patterns.allow(value) {
			return false
		}
	}
	return true
}

func (sel ServiceSelector) empty() bool {
	return len(sel.Name)+len(sel.Namespace)+len(sel.Tag)+len(sel.Labels) == 0
}
