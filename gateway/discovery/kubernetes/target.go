package kubernetes

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// Prefix is what annotations of a Service begin with that say what the gateway needs.
const Prefix = "drawbridge/"

// The annotations of a Service, without [Prefix].
const (
	annotationPath    = "path"    // the path of the base URL
	annotationPort    = "port"    // the name or number of one of its ports
	annotationScheme  = "scheme"  // http or https
	annotationOpenAPI = "openapi" // the URL of the OpenAPI document, or its path on the service
	annotationName    = "name"    // the name in the API's name, in place of the Service's
	annotationTags    = "tags"    // the tags, separated by commas
)

// target returns the service as the gateway sees it. direct tells to call endpoints rather than the Service's name.
func (s *service) target(all []*endpointSlice, direct bool) discovery.Target {
	t := discovery.Target{
		Service:  config.Service{Name: s.name, Namespace: s.namespace, Alias: s.annotations[annotationName], Labels: maps.Clone(s.labels)},
		Scheme:   "http",
		BasePath: s.annotations[annotationPath],
		Document: s.annotations[annotationOpenAPI],
	}
	for tag := range strings.SplitSeq(s.annotations[annotationTags], ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			t.Tags = append(t.Tags, tag)
		}
	}
	t.ContextPath = s.contextPath
	if s.external {
		t.Problem = "the Service is an ExternalName, which stands for a host outside of the cluster"
		return t
	}
	port, err := s.port()
	if err != nil {
		t.Problem = err.Error()
		return t
	}
	t.Scheme = port.scheme()
	if scheme, ok := s.annotations[annotationScheme]; ok {
		t.Scheme = scheme
	}
	t.Instances = readyEndpoints(all, port.name)
	switch {
	case len(t.Instances) == 0:
		t.Problem = "no endpoint of the Service is ready"
	case !direct && !s.headless:
		t.Revisions, t.Shared = t.Instances, true
		t.Instances = []string{net.JoinHostPort(s.name+"."+s.namespace+".svc", strconv.Itoa(port.number))}
	}
	return t
}

// readyEndpoints returns the addresses of the endpoints that are ready, with the port of that name.
func readyEndpoints(all []*endpointSlice, port string) (addresses []string) {
	for _, e := range all {
		if number, ok := e.ports[port]; ok {
			for _, address := range e.ready {
				addresses = append(addresses, net.JoinHostPort(address, strconv.Itoa(number)))
			}
		}
	}
	slices.Sort(addresses) // those of several slices have no order
	return addresses
}

// port returns the port of the API: that of the annotation, else the only one, else the only one of HTTP.
func (s *service) port() (servicePort, error) {
	if want, ok := s.annotations[annotationPort]; ok {
		for _, p := range s.ports {
			if want == p.name || want == strconv.Itoa(p.number) {
				return p, nil
			}
		}
		return servicePort{}, fmt.Errorf("the annotation %s%s: expected the name or number of a TCP port of the Service (%s), got %.100q",
			Prefix, annotationPort, s.portNames(), want)
	}
	if len(s.ports) == 1 {
		return s.ports[0], nil
	}
	if len(s.ports) == 0 {
		return servicePort{}, fmt.Errorf("the Service has no TCP port")
	}
	var found []servicePort
	for _, p := range s.ports {
		if p.speaks("http") || p.speaks("https") {
			found = append(found, p)
		}
	}
	if len(found) != 1 {
		return servicePort{}, fmt.Errorf("the Service has several ports (%s); the annotation %s%s says which one is meant", s.portNames(), Prefix, annotationPort)
	}
	return found[0], nil
}

// portNames lists the ports for an error.
func (s *service) portNames() string {
	var names []string
	for _, p := range s.ports {
		name := strconv.Itoa(p.number)
		if p.name != "" {
			name = fmt.Sprintf("%.20s %s", p.name, name)
		}
		names = append(names, name)
	}
	if len(names) > maxProblems {
		names = append(names[:maxProblems], "…")
	}
	return strings.Join(names, ", ")
}

// speaks reports whether the Service says so of the port: by its application protocol, or else by its name, such as http or
// http-api.
func (p servicePort) speaks(protocol string) bool {
	if p.appProtocol != "" {
		return strings.EqualFold(p.appProtocol, protocol)
	}
	return p.name == protocol || strings.HasPrefix(p.name, protocol+"-")
}

func (p servicePort) scheme() string {
	if p.speaks("https") || !p.speaks("http") && (p.number == 443 || p.number == 8443) {
		return "https"
	}
	return "http"
}
