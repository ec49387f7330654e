package kubernetes

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"drawbridge/gateway/discovery"
)

// object is what is kept of an object of the cluster: a *service or an *endpointSlice.
type object any

// decoder reads an object. Its name is known even if the rest can't be read; the key is the namespace and the name of the
// object.
type decoder func(text []byte) (key, version string, o object, err error)

// metadata is what all objects have.
type metadata struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	ResourceVersion string            `json:"resourceVersion"`
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
}

// identity is what is read of an object whose other parts can't be read.
type identity struct {
	Metadata struct {
		Name            string `json:"name"`
		Namespace       string `json:"namespace"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
}

// read reads an object into v, and its name apart from it.
func read(text []byte, v any) (key, version string, err error) {
	var id identity
	if err := json.Unmarshal(text, &id); err != nil {
		return "", "", unexpected(err)
	}
	m := id.Metadata
	if !subdomain.MatchString(m.Name) || !label.MatchString(m.Namespace) {
		return fmt.Sprintf("%.100s/%.100s", m.Namespace, m.Name), m.ResourceVersion, errors.New("expected DNS names as its name and namespace")
	}
	key = m.Namespace + "/" + m.Name
	if err := json.Unmarshal(text, v); err != nil {
		return key, m.ResourceVersion, unexpected(err)
	}
	return key, m.ResourceVersion, nil
}

// Names of objects (RFC 1123): a Service's is a label, that of other objects a subdomain.
var (
	label     = regexp.MustCompile(`\A[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\z`)
	subdomain = regexp.MustCompile(`\A[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\z`)
)

// unexpected says where a JSON text is not what was expected.
func unexpected(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return fmt.Errorf("expected %s as %s, got a JSON %s", kindName(kind), kind.Field, kind.Value)
	}
	return err
}

func kindName(err *json.UnmarshalTypeError) string {
	switch name := err.Type.Kind().String(); name {
	case "map", "struct":
		return "an object"
	case "slice":
		return "a list"
	case "bool":
		return "a boolean"
	case "string":
		return "a string"
	default:
		return "an integer"
	}
}

// service is what is kept of a Service.
type service struct {
	namespace, name string
	labels          map[string]string
	annotations     map[string]string // those of the gateway, without the prefix
	contextPath     string            // that annotations or labels show
	external        bool              // it stands for a name outside of the cluster
	headless        bool              // its name has the addresses of the endpoints
	ports           []servicePort     // of TCP
}

type servicePort struct {
	name, appProtocol string
	number            int
}

func decodeService(text []byte) (key, version string, _ object, err error) {
	var o struct {
		Metadata metadata `json:"metadata"`
		Spec     struct {
			Type      string `json:"type"`
			ClusterIP string `json:"clusterIP"`
			Ports     []struct {
				Name        string `json:"name"`
				Protocol    string `json:"protocol"`
				AppProtocol string `json:"appProtocol"`
				Port        int    `json:"port"`
			} `json:"ports"`
		} `json:"spec"`
	}
	key, version, err = read(text, &o)
	if err != nil {
		return key, version, nil, err
	}
	s := &service{
		namespace: o.Metadata.Namespace, name: o.Metadata.Name, labels: o.Metadata.Labels, annotations: map[string]string{},
		external: o.Spec.Type == "ExternalName", headless: o.Spec.ClusterIP == "None",
	}
	if !label.MatchString(s.name) {
		return key, version, nil, errors.New("expected a DNS label as its name")
	}
	for name, value := range o.Metadata.Annotations {
		if own, ok := strings.CutPrefix(name, Prefix); ok {
			s.annotations[own] = value
		}
	}
	s.contextPath = cmp.Or(discovery.ContextPath(o.Metadata.Annotations, ""), discovery.ContextPath(s.labels, ""))
	for _, p := range o.Spec.Ports {
		if p.Protocol == "" || p.Protocol == "TCP" {
			s.ports = append(s.ports, servicePort{p.Name, p.AppProtocol, p.Port})
		}
	}
	return key, version, s, nil
}

// labelServiceName is the label of an EndpointSlice that names its Service.
const labelServiceName = "kubernetes.io/service-name"

// endpointSlice is what is kept of an EndpointSlice: the addresses that are ready.
type endpointSlice struct {
	service string         // namespace/name
	ports   map[string]int // of TCP, by name
	ready   []string
}

func decodeSlice(text []byte) (key, version string, _ object, err error) {
	var o struct {
		Metadata    metadata `json:"metadata"`
		AddressType string   `json:"addressType"`
		Endpoints   []struct {
			Addresses  []string `json:"addresses"`
			Conditions struct {
				Ready *bool `json:"ready"`
			} `json:"conditions"`
		} `json:"endpoints"`
		Ports []struct {
			Name     string `json:"name"`
			Protocol string `json:"protocol"`
			Port     *int   `json:"port"`
		} `json:"ports"`
	}
	key, version, err = read(text, &o)
	if err != nil {
		return key, version, nil, err
	}
	s := &endpointSlice{service: o.Metadata.Namespace + "/" + o.Metadata.Labels[labelServiceName], ports: map[string]int{}}
	for _, p := range o.Ports {
		if p.Port != nil && (p.Protocol == "" || p.Protocol == "TCP") {
			s.ports[p.Name] = *p.Port
		}
	}
	if o.AddressType == "FQDN" {
		return key, version, s, nil // a name outside of the cluster, as of an ExternalName
	}
	for _, e := range o.Endpoints {
		// All addresses of an endpoint are those of one Pod. No condition is the same as ready.
		if len(e.Addresses) > 0 && (e.Conditions.Ready == nil || *e.Conditions.Ready) {
			s.ready = append(s.ready, e.Addresses[0])
		}
	}
	return key, version, s, nil
}
