package eureka

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// The metadata that says what the gateway needs. All metadata can be matched by selectors, as labels.
const (
	MetaScheme   = "scheme"    // http or https; without it, https if the secure port is enabled
	MetaBasePath = "base_path" // the path of the base URL; without it, that of homePageUrl
	MetaOpenAPI  = "openapi"   // the URL of the OpenAPI document, or its path on the service
)

// up is the status of an instance that takes requests.
const up = "UP"

// applications is the list of a server. Each element is decoded by itself, so that one that can't be read costs no other its place.
type applications struct {
	Application list `json:"application"`
}

// list is a JSON array. Older servers write an array of one element as that element.
type list []json.RawMessage

// UnmarshalJSON reads an array, or one element of it.
func (l *list) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '[' {
		if string(text) != "null" {
			*l = list{slices.Clone(text)}
		}
		return nil
	}
	return json.Unmarshal(text, (*[]json.RawMessage)(l))
}

// application is a service.
type application struct {
	Name     string `json:"name"`
	Instance list   `json:"instance"`
}

// instance is an instance of a service.
type instance struct {
	ID          string            `json:"instanceId"`
	HostName    string            `json:"hostName"`
	IPAddr      string            `json:"ipAddr"`
	Status      string            `json:"status"`
	Port        port              `json:"port"`
	SecurePort  port              `json:"securePort"`
	Metadata    map[string]string `json:"metadata"`
	HomePageURL string            `json:"homePageUrl"`

	// These only help, so that one of another form costs the instance nothing.

	StatusPageURL        any             `json:"statusPageUrl"`
	HealthCheckURL       any             `json:"healthCheckUrl"`
	SecureHealthCheckURL any             `json:"secureHealthCheckUrl"`
	LeaseInfo            json.RawMessage `json:"leaseInfo"`
}

// statusURLs returns the URLs at which the state of the instance is shown.
func (i *instance) statusURLs() (all []string) {
	for _, value := range []any{i.StatusPageURL, i.HealthCheckURL, i.SecureHealthCheckURL} {
		if text, ok := value.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// port is a port. Older servers write its number and whether it is enabled as strings, newer ones only the latter.
type port struct {
	Number  json.Number `json:"$"`
	Enabled any         `json:"@enabled"`
}

// number returns the number of an enabled port; 0 if it is not enabled, or no port.
func (p port) number() int {
	n, err := strconv.ParseUint(p.Number.String(), 10, 16)
	if err != nil || fmt.Sprint(p.Enabled) != "true" {
		return 0
	}
	return int(n)
}

// targets returns the services. One that no instance serves now has no instances, so that what is known of it stays. The error
// names instances that are left out.
func (a *applications) targets() ([]discovery.Target, error) {
	var all discovery.Merger
	var problems []error
	for _, text := range a.Application {
		var one application
		if err := json.Unmarshal(text, &one); err != nil {
			problems = append(problems, fmt.Errorf("an application can't be read: %w", shorten(err)))
			continue
		}
		if err := one.add(&all); err != nil {
			problems = append(problems, err...)
		}
	}
	return all.Targets(), discovery.JoinProblems(problems)
}

// add adds the instances of a service, those that are up first: they decide what the service is.
func (a *application) add(all *discovery.Merger) (problems []error) {
	name := strings.ToLower(a.Name)
	var instances []instance
	for _, text := range a.Instance {
		var i instance
		if err := json.Unmarshal(text, &i); err != nil {
			problems = append(problems, fmt.Errorf("an instance of the service %.100q can't be read: %w", name, shorten(err)))
			continue
		}
		instances = append(instances, i)
	}
	slices.SortStableFunc(instances, func(a, b instance) int {
		if x, y := a.Status == up, b.Status == up; x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a.ID, b.ID)
	})
	for k := range instances {
		i := &instances[k]
		t, err := i.target(name)
		if err == nil && !all.Add(&t) && i.Status == up {
			err = fmt.Errorf("it has another %s, %s or %s than another instance", MetaScheme, MetaBasePath, MetaOpenAPI)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("the instance %.100q of the service %.100q is left out: %w", i.ID, name, err))
		}
	}
	return problems
}

// target returns what an instance says of its service, with its address if it is up.
func (i *instance) target(name string) (discovery.Target, error) {
	labels := map[string]string{}
	for key, value := range i.Metadata {
		if !strings.HasPrefix(key, "@") { // the class of the map in Java
			labels[key] = value
		}
	}
	plain, secure := i.Port.number(), i.SecurePort.number()
	scheme := labels[MetaScheme]
	if scheme == "" {
		scheme = "http"
		if secure != 0 {
			scheme = "https"
		}
	}
	number := plain
	if scheme == "https" {
		number = cmp.Or(secure, plain)
	}
	t := discovery.Target{
		Service: config.Service{Name: name, Labels: labels}, Scheme: scheme, BasePath: labels[MetaBasePath], Document: labels[MetaOpenAPI],
	}
	if _, given := labels[MetaBasePath]; !given {
		t.BasePath = i.homePath()
	}
	host := cmp.Or(i.HostName, i.IPAddr)
	switch {
	case i.Status != up:
		return t, nil
	case number == 0:
		return t, errors.New("it has no enabled port of its scheme")
	case host == "":
		return t, errors.New("it has neither hostName nor ipAddr")
	}
	address := net.JoinHostPort(host, strconv.Itoa(number))
	t.Instances = []string{address}
	t.ContextPath = discovery.ContextPath(labels, address, i.statusURLs()...)
	var lease struct {
		Registered json.Number `json:"registrationTimestamp"`
	}
	if json.Unmarshal(i.LeaseInfo, &lease) == nil && lease.Registered != "" {
		t.Revisions = []string{address + " " + lease.Registered.String()}
	}
	return t, nil
}

// homePath returns the path of the home page, unless it is that of a file.
func (i *instance) homePath() string {
	u, err := url.Parse(i.HomePageURL)
	if err != nil || u.Path == "/" || strings.Contains(path.Base(u.Path), ".") {
		return ""
	}
	return strings.TrimSuffix(u.Path, "/")
}

// shorten says of an error of JSON what was expected where, without the text that was found.
func shorten(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		expected := kind.Type.String()
		if kind.Type.Kind() == reflect.Struct {
			expected = "object"
		}
		return fmt.Errorf("expected %s as %s, got a JSON %s", expected, cmp.Or(kind.Field, "the element"), kind.Value)
	}
	return errors.New("a value is not of the form that Eureka writes")
}
