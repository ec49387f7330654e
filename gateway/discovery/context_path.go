package discovery

import (
	"net"
	"net/url"
	"slices"
	"strings"
)

// contextKeys are the metadata, labels and annotations by which frameworks and their tools say at which path a service is.
var contextKeys = []string{
	"contextPath", "context-path", "context_path", "server.servlet.context-path", "server.servlet.contextPath", "server.context-path",
	"servlet.context-path", "spring.webflux.base-path", "quarkus.http.root-path", "management.context-path",
}

// ContextPath returns the path at which a registration shows that the service is, without naming its base path: that of its metadata, such
// as contextPath, or the path before /actuator in the URL of a status page or a check of an instance. "" if it shows none. A path that
// can't be used is ignored: the path only decides where a document is looked for first.
func ContextPath(metadata map[string]string, instance string, statusURLs ...string) string {
	for _, key := range contextKeys {
		value := metadata[key]
		if value == "" {
			continue
		}
		if !strings.HasPrefix(value, "/") {
			value = "/" + value
		}
		if path, ok := beforeActuator(value); ok {
			value = path
		}
		if path := strings.TrimRight(value, "/"); isUsable(path) {
			return path
		}
	}
	for _, status := range statusURLs {
		u, err := url.Parse(strings.TrimSpace(status))
		if err != nil || !sameServer(u, instance) {
			continue
		}
		path, ok := beforeActuator(u.EscapedPath())
		if path = strings.TrimRight(path, "/"); ok && isUsable(path) {
			return path
		}
	}
	return ""
}

func isUsable(path string) bool {
	return path != "" && len(path) <= maxLabel && !strings.Contains(path, "//") && checkPath(path) == nil
}

// sameServer reports whether the URL of a status page is that of the server of an instance: the management of a service may have a port of
// its own, whose paths say nothing of those of the service.
func sameServer(u *url.URL, instance string) bool {
	if u.Host == "" {
		return u.Scheme == "" && instance != ""
	}
	_, port, err := net.SplitHostPort(instance)
	if err != nil {
		return false
	}
	switch own := u.Port(); {
	case own != "":
		return own == port
	case u.Scheme == "https":
		return port == "443"
	}
	return port == "80"
}

// beforeActuator returns the path before the last segment "actuator", below which Spring Boot has the state of a service.
func beforeActuator(path string) (before string, ok bool) {
	segments := strings.Split(path, "/")
	for i, segment := range slices.Backward(segments) {
		if segment == "actuator" && i > 0 {
			return strings.Join(segments[:i], "/"), true
		}
	}
	return "", false
}

// StatusURL returns the URL in the output of a check by HTTP, as Consul writes it: HTTP GET URL: STATUS Output: BODY. "" if there is none.
func StatusURL(output string) string {
	rest, ok := strings.CutPrefix(output, "HTTP GET ")
	if !ok {
		return ""
	}
	at, _, ok := strings.Cut(rest, ": ")
	if !ok || len(at) > maxLabel {
		return ""
	}
	return at
}
