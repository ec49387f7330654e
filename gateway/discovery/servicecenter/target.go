package servicecenter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
	"drawbridge/openapi/tree"
)

// statusUp is the status of an instance, and of a microservice, that may be called.
const statusUp = "UP"

// targetsOf returns the services of a microservice: one for each schema, or one whose document is looked for at its instances
// if the registry has no schema of it.
func (p *Provider) targetsOf(d *detail, k *kept) []discovery.Target {
	namespace := p.namespace(&d.Service)
	if len(k.schemas) == 0 {
		t := d.target(namespace, "")
		if k.problem != nil {
			t.Problem = k.problem.Error()
		}
		return []discovery.Target{t}
	}
	targets := make([]discovery.Target, 0, len(k.schemas))
	for i := range k.schemas {
		t := d.target(namespace, k.schemas[i].ID)
		if t.Text = []byte(k.schemas[i].Text); len(t.Text) == 0 {
			t.Text, t.Problem = nil, "the registry has no text of the schema"
		}
		t.BasePath = join(t.BasePath, k.schemas[i].path)
		targets = append(targets, t)
	}
	return targets
}

// namespace returns the namespace of a microservice: its application, with its environment if the provider reads several. Microservices of
// two environments are different ones, whatever they are called.
func (p *Provider) namespace(s *microservice) string {
	if p.d.Environment != "" || s.Environment == "" {
		return s.Application
	}
	return s.Application + "@" + s.Environment
}

// tellApart gives services of different microservices that join to one name a digest: orders with the schema x-y, and orders-x with y.
func tellApart(targets []discovery.Target) {
	of := func(t *discovery.Target) string { return fmt.Sprintf("%q", []string{t.Namespace, t.Name}) }
	microservices := map[string]string{}
	shared := map[string]bool{}
	for i := range targets {
		t := &targets[i]
		if other, known := microservices[of(t)]; known && other != t.Labels[labelMicroservice] {
			shared[of(t)] = true
		}
		microservices[of(t)] = t.Labels[labelMicroservice]
	}
	for i := range targets {
		if t := &targets[i]; shared[of(t)] {
			digest := sha256.Sum256(fmt.Appendf(nil, "%q", []string{t.Labels[labelMicroservice], t.Labels[labelSchema]}))
			t.Name += "-" + hex.EncodeToString(digest[:8])
		}
	}
}

// The labels that name a microservice and its schema.
const (
	labelMicroservice = "microservice"
	labelSchema       = "schema"
)

// target returns the service of a schema without its document.
func (d *detail) target(namespace, schema string) discovery.Target {
	s := &d.Service
	t := discovery.Target{Service: config.Service{Name: s.Name, Namespace: namespace, Labels: d.labels(schema)}}
	if schema != "" {
		t.Name += "-" + schema
	}
	if s.Environment != "" {
		t.Tags = append(t.Tags, s.Environment)
	}
	for _, i := range d.Instances {
		if i.Status != statusUp {
			continue
		}
		for _, endpoint := range i.Endpoints {
			e, ok := parseEndpoint(endpoint)
			if !ok {
				continue // of a protocol that is not HTTP
			}
			if t.Scheme == "" {
				t.Scheme, t.BasePath = e.scheme, e.prefix
			}
			if t.Scheme == e.scheme && t.BasePath == e.prefix {
				t.Instances = append(t.Instances, e.address)
			}
			break
		}
	}
	if t.Scheme == "" {
		t.Scheme, t.Problem = "http", "no instance that is UP has a rest endpoint"
	}
	return t
}

// labels returns what selectors can look at: the properties of the microservice, and what the registry knows of it.
func (d *detail) labels(schema string) map[string]string {
	labels := map[string]string{}
	for name, value := range d.Service.Properties {
		labels[name] = value
	}
	for name, value := range map[string]string{
		labelMicroservice: d.Service.Name, labelSchema: schema, "version": d.Service.Version, "environment": d.Service.Environment,
	} {
		if labels[name] = value; value == "" {
			delete(labels, name) // a property of that name does not stand for it
		}
	}
	return labels
}

// endpoint is where an instance is called.
type endpoint struct{ scheme, address, prefix string }

// parseEndpoint reads an endpoint such as rest://10.0.0.1:8080?sslEnabled=true&urlPrefix=/shop.
func parseEndpoint(text string) (e endpoint, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return e, false
	}
	e.address, e.prefix = u.Host, strings.TrimSuffix(u.Query().Get("urlPrefix"), "/")
	switch u.Scheme {
	case "rest":
		e.scheme = "http"
		if u.Query().Get("sslEnabled") == "true" {
			e.scheme = "https"
		}
	case "http", "https":
		e.scheme = u.Scheme
	default:
		return e, false
	}
	return e, true
}

// basePath returns the path that a schema declares: its basePath (Swagger 2.0), or that of its first server (OpenAPI 3). Who registers
// a schema is not trusted, so it is read within the limits of documents.
func basePath(text string) string {
	document, err := tree.Parse("", []byte(text), tree.Limits{})
	if err != nil {
		return "" // the document's loader says what is wrong
	}
	if path := document.Get("basePath").Text(); path != "" || document.Get("servers").Len() == 0 {
		return strings.TrimSuffix(path, "/")
	}
	u, err := url.Parse(document.Get("servers").At(0).Get("url").Text())
	if err != nil || strings.ContainsAny(u.Path, "{}") {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// join returns a path below a prefix, which the path may have already.
func join(prefix, path string) string {
	if prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/") {
		return path
	}
	return prefix + path
}
