package config

import (
	"fmt"
	"net"
	"regexp"
)

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
	if c.getenv == nil {
		return
	}
	if host, port := c.getenv("KUBERNETES_SERVICE_HOST"), c.getenv("KUBERNETES_SERVICE_PORT"); host != "" && port != "" {
		k.inCluster = "https://" + net.JoinHostPort(host, port)
	}
}

func checkNamespaceName(name string) error {
	if !namespaceName.MatchString(name) {
		return fmt.Errorf("%s must be the name of a namespace: lower-case letters, digits and -, at most 63", quote(name))
	}
	return nil
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
