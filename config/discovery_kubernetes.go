package config

import (
	"fmt"
	"net"
	"regexp"
	"slices"
)

// KubernetesDiscovery watches the Services of a cluster. Annotations of a Service say what the gateway can't know otherwise:
// drawbridge/port, drawbridge/scheme, drawbridge/path, drawbridge/openapi, drawbridge/name, drawbridge/tags.
type KubernetesDiscovery struct {
	// The namespaces whose Services are watched. Without it the service account needs a ClusterRole.
	Namespaces []string `yaml:"namespaces,omitempty" absent:"all namespaces"`
	// A label selector in the syntax of Kubernetes, such as mcp=enabled,tier in (core, edge). Other Services are not read.
	Selector string `yaml:"selector,omitempty" absent:"all Services"`
	// Where calls go: to the name of the Service (service), or to its endpoints that are ready, in turn (endpoints). A Service
	// without an endpoint that is ready is not served with either; calls to a headless one always go to its endpoints.
	Address ServiceAddress `yaml:"address" default:"service" access:"none: how the same services are called"`
	// A kubeconfig file. Its users have a token, a token file or a client certificate; exec plugins are not run.
	Kubeconfig File `yaml:"kubeconfig,omitempty" absent:"the service account of the pod"`
	// The context of the kubeconfig file.
	Context string `yaml:"context,omitempty" absent:"current-context of the file"`

	inCluster string // the URL of the API server of the cluster that the gateway runs in; "" if it runs in none
}

// InCluster returns the URL of the API server of the cluster that the gateway runs in, as its environment has it; "" if it
// runs in none.
func (k *KubernetesDiscovery) InCluster() string { return k.inCluster }

// ServiceAddress says what is called of a Service of Kubernetes.
type ServiceAddress string

// The values of [ServiceAddress].
const (
	AddressService   ServiceAddress = "service"   // its DNS name
	AddressEndpoints ServiceAddress = "endpoints" // the endpoints that are ready
)

func (ServiceAddress) values() []string { return []string{"service", "endpoints"} }

// maxNamespaces is the most namespaces of a provider: each is watched on its own.
const maxNamespaces = 100

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
func (k *KubernetesDiscovery) validate(l *loader, key string) {
	if l.given(key+".namespaces") && len(k.Namespaces) == 0 && l.ok(key+".namespaces") {
		l.errorf(key+".namespaces", "is empty; leave it out for all namespaces, or name some")
	}
	if len(k.Namespaces) > maxNamespaces {
		l.errorf(key+".namespaces", "has %d items; at most %d are allowed, or leave it out for all namespaces", len(k.Namespaces), maxNamespaces)
	}
	for i, name := range k.Namespaces {
		switch at := fmt.Sprintf("%s.namespaces[%d]", key, i); {
		case !l.ok(at):
		case !namespaceName.MatchString(name):
			l.errorf(at, "%s must be the name of a namespace: lower-case letters, digits and -, at most 63", quote(name))
		case slices.Contains(k.Namespaces[:i], name):
			l.errorf(at, "%s is there twice", quote(name))
		}
	}
	if l.given(key+".selector") && l.ok(key+".selector") && !isLabelSelector(k.Selector) {
		l.errorf(key+".selector", "%s is not a label selector of Kubernetes, such as mcp=enabled,tier in (core, edge),!legacy", quote(k.Selector))
	}
	if k.Context != "" && k.Kubeconfig == "" && l.ok(key+".kubeconfig") {
		l.errorf(key+".context", "needs kubeconfig")
	}
	if l.getenv == nil {
		return
	}
	if host, port := l.getenv("KUBERNETES_SERVICE_HOST"), l.getenv("KUBERNETES_SERVICE_PORT"); host != "" && port != "" {
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

func (k *KubernetesDiscovery) namespaces(string) []string { return k.Namespaces }

func (*KubernetesDiscovery) mayOmitNamespace() bool { return false }

func (*KubernetesDiscovery) basePathKey() string { return "the annotation drawbridge/path" }

func (k *KubernetesDiscovery) isTrusted() bool { return len(k.Namespaces) > 0 }
