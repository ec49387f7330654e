package config

import (
	"fmt"
	"net"
	"regexp"
)

// KubernetesDiscovery watches the Services of a cluster. Annotations of a Service say what the gateway can't know otherwise:
// drawbridge/port, drawbridge/scheme, drawbridge/path, drawbridge/openapi, drawbridge/name, drawbridge/tags.
type KubernetesDiscovery struct {
	// The namespaces whose Services are watched. Without it the service account needs a ClusterRole.
	Namespaces []string `yaml:"namespaces,omitempty" absent:"all namespaces" empty:"leave it out for all namespaces, or name some" count:"100: has %d items; at most %d are allowed, or leave it out for all namespaces" unique:"%s is there twice"`
	// A label selector in the syntax of Kubernetes, such as mcp=enabled,tier in (core, edge). Other Services are not read.
	Selector string `yaml:"selector,omitempty" absent:"all Services"`
	// Where calls go: to the name of the Service (service), or to its endpoints that are ready, in turn (endpoints). A Service
	// without an endpoint that is ready is not served with either; calls to a headless one always go to its endpoints.
	Address ServiceAddress `yaml:"address" default:"service" access:"none: how the same services are called"`
	// A kubeconfig file. Its users have a token, a token file or a client certificate; exec plugins are not run.
	Kubeconfig File `yaml:"kubeconfig,omitempty" absent:"the service account of the pod"`
	// The context of the kubeconfig file.
	Context string `yaml:"context,omitempty" absent:"current-context of the file" needs:"kubeconfig"`

	inCluster string // the URL of the API server of the cluster that the gateway runs in; "" if it runs in none
}

// InCluster returns the URL of the API server of the cluster that the gateway runs in, as its environment has it; "" if it
// runs in none.
func (k *KubernetesDiscovery) InCluster() string { return k.inCluster }

// ServiceAddress selects the addresses of a Kubernetes Service that are called.
type ServiceAddress string

// The values of [ServiceAddress].
const (
	AddressService   ServiceAddress = "service"   // its DNS name
	AddressEndpoints ServiceAddress = "endpoints" // the endpoints that are ready
)

func (ServiceAddress) values() []string { return []string{"service", "endpoints"} }

var (
	namespaceName = regexp.MustCompile(`\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\z`)
	// labelRequirement is one of a label selector: KEY, !KEY, KEY=VALUE, KEY==VALUE, KEY!=VALUE, KEY in (…), KEY notin (…).
	labelRequirement = regexp.MustCompile(`\A\s*(` +
		`!?\s*` + labelKey + `|` +
		labelKey + `\s*(=|==|!=)\s*` + labelValue + `|` +
		labelKey + `\s+(in|notin)\s*\(\s*` + labelValue + `(\s*,\s*` + labelValue + `)*\s*\)` +
		`)\s*(,|\z)`)
)

const (
	labelKey   = `([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?`
	labelValue = `([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?`
)

// validate also takes over where the gateway runs.
func (k *KubernetesDiscovery) validate(c cursor) {
	if !isLabelSelector(k.Selector) {
		c.check("selector", fmt.Errorf("%s is not a label selector of Kubernetes, such as mcp=enabled,tier in (core, edge),!legacy", quote(k.Selector)))
	}
	for i, name := range k.Namespaces {
		if !namespaceName.MatchString(name) {
			c.check(c.item("namespaces", i), fmt.Errorf("%s must be the name of a namespace: lower-case letters, digits and -, at most 63", quote(name)))
		}
	}
	if c.getenv == nil {
		return
	}
	if host, port := c.getenv("KUBERNETES_SERVICE_HOST"), c.getenv("KUBERNETES_SERVICE_PORT"); host != "" && port != "" {
		k.inCluster = "https://" + net.JoinHostPort(host, port)
	}
}

// isLabelSelector reports whether a text is a label selector in the syntax of Kubernetes.
func isLabelSelector(text string) bool {
	for {
		found := labelRequirement.FindStringSubmatchIndex(text)
		if found == nil {
			return false
		}
		comma := text[:found[1]][found[1]-1:] == ","
		if text = text[found[1]:]; text == "" {
			return !comma
		}
	}
}

func (k *KubernetesDiscovery) registrations(string) registrations {
	return registrations{namespaces: k.Namespaces, basePathKey: "the annotation drawbridge/path", isTrusted: len(k.Namespaces) > 0}
}
