package docker

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"drawbridge/config"
	"drawbridge/gateway/discovery"
)

// The labels that say what the gateway needs. All labels can be matched by selectors.
const (
	LabelService  = "drawbridge.service"   // the name of the service; a container without it is none
	LabelPort     = "drawbridge.port"      // the port in the container; without it, the only TCP port that it exposes
	LabelScheme   = "drawbridge.scheme"    // http or https; without it, http
	LabelBasePath = "drawbridge.base_path" // the path of the base URL
	LabelOpenAPI  = "drawbridge.openapi"   // the URL of the OpenAPI document, or its path on the service
	LabelTags     = "drawbridge.tags"      // the tags, separated by commas
)

// labelsOfNamespace are labels of Compose and Swarm that name the namespace of a service, the first of them first.
var labelsOfNamespace = [...]string{"com.docker.compose.project", "com.docker.stack.namespace"}

// container is an element of the answer of /containers/json.
type container struct {
	ID         string `json:"Id"`
	Names      []string
	Labels     map[string]string
	State      string
	Status     string
	Ports      []port
	HostConfig struct{ NetworkMode string }

	NetworkSettings struct {
		Networks map[string]struct{ IPAddress, GlobalIPv6Address string }
	}
}

// port is a port that a container exposes; PublicPort is 0 unless the daemon's machine publishes it.
type port struct {
	IP                      string
	PrivatePort, PublicPort int
	Type                    string
}

// name returns how people know the container.
func (c *container) name() string {
	if len(c.Names) > 0 {
		return strings.TrimPrefix(c.Names[0], "/")
	}
	return c.ID
}

// healthy reports whether the container runs and its health check, if it has one, has succeeded. The list has the state of the
// check in words alone.
func (c *container) healthy() bool {
	return c.State == "running" && !strings.Contains(c.Status, "(unhealthy)") && !strings.Contains(c.Status, "(health: starting)")
}

// targets returns the services of containers. A service whose containers are not healthy has no instances, so that what is known
// of it stays. The error names containers that are left out.
func (p *Provider) targets(containers []container) ([]discovery.Target, error) {
	slices.SortStableFunc(containers, func(a, b container) int { // those that are healthy decide what the service is
		if x, y := a.healthy(), b.healthy(); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a.name(), b.name())
	})
	var all discovery.Merger
	var problems []error
	for i := range containers {
		c := &containers[i]
		if _, ok := c.Labels[LabelService]; !ok {
			continue // the daemon does not know the filter
		}
		t := c.registration()
		if t.Name == "" {
			problems = append(problems, fmt.Errorf("container %.100q: the label %s is empty; it must name the service", c.name(), LabelService))
			continue
		}
		if c.healthy() {
			address, err := p.address(c)
			if err != nil {
				problems = append(problems, fmt.Errorf("container %.100q: %w", c.name(), err))
				continue
			}
			t.Instances, t.Revisions = []string{address}, []string{c.ID}
		}
		if !all.Add(&t) && c.healthy() {
			problems = append(problems, fmt.Errorf("container %.100q is another one of the service %.100q, with another %s, %s or %s; it is left out",
				c.name(), t.Name, LabelScheme, LabelBasePath, LabelOpenAPI))
		}
	}
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems:maxProblems], fmt.Errorf("and %d more", len(problems)-maxProblems))
	}
	return all.Targets(), errors.Join(problems...)
}

// maxProblems is the most problems that an error names.
const maxProblems = 5

// registration returns what a container says of its service, without an address.
func (c *container) registration() discovery.Target {
	t := discovery.Target{
		Service:     config.Service{Name: c.Labels[LabelService], Labels: c.usable()},
		Scheme:      cmp.Or(c.Labels[LabelScheme], "http"),
		BasePath:    c.Labels[LabelBasePath],
		Document:    c.Labels[LabelOpenAPI],
		ContextPath: discovery.ContextPath(c.Labels, ""),
	}
	for _, label := range labelsOfNamespace {
		t.Namespace = cmp.Or(t.Namespace, c.Labels[label])
	}
	for tag := range strings.SplitSeq(c.Labels[LabelTags], ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			t.Tags = append(t.Tags, tag)
		}
	}
	return t
}

// Limits of the labels that selectors see. Images have labels of any size, which must not make their services unusable.
const (
	maxLabels = 64
	maxLabel  = 1024
)

// usable returns the labels that selectors see: those of the gateway, then the others by name, as many as the limits allow.
func (c *container) usable() map[string]string {
	names := slices.SortedFunc(maps.Keys(c.Labels), func(a, b string) int {
		if x, y := strings.HasPrefix(a, "drawbridge."), strings.HasPrefix(b, "drawbridge."); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	usable := map[string]string{}
	for _, name := range names {
		if value := c.Labels[name]; len(usable) < maxLabels && short(name) && short(value) {
			usable[name] = value
		}
	}
	return usable
}

func short(text string) bool {
	return len(text) <= maxLabel && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// address returns host:port of a container: its own in the network of the configuration, or one that the daemon's machine
// publishes.
func (p *Provider) address(c *container) (string, error) {
	number, err := c.port(p.d.Network == "")
	if err != nil {
		return "", err
	}
	networks := c.NetworkSettings.Networks
	switch _, ok := networks[p.d.Network]; {
	case c.HostConfig.NetworkMode == "host":
		return net.JoinHostPort(p.machine(), strconv.Itoa(number)), nil
	case p.d.Network == "":
		return p.published(c, number)
	case !ok:
		return "", fmt.Errorf("it is not in the network %q, but in %.200q", p.d.Network, slices.Sorted(maps.Keys(networks)))
	}
	ip := cmp.Or(networks[p.d.Network].IPAddress, networks[p.d.Network].GlobalIPv6Address)
	if _, err := netip.ParseAddr(ip); err != nil {
		return "", fmt.Errorf("expected an IP address in the network %q, got %.60q", p.d.Network, ip)
	}
	return net.JoinHostPort(ip, strconv.Itoa(number)), nil
}

// port returns the port in the container.
func (c *container) port(published bool) (int, error) {
	if text, ok := c.Labels[LabelPort]; ok {
		number, err := strconv.ParseUint(text, 10, 16)
		if err != nil || number == 0 {
			return 0, fmt.Errorf("expected a port as the label %s, got %.40q", LabelPort, text)
		}
		return int(number), nil
	}
	var numbers []int
	for _, p := range c.Ports {
		if p.Type == "tcp" && (p.PublicPort > 0 || !published) && !slices.Contains(numbers, p.PrivatePort) {
			numbers = append(numbers, p.PrivatePort)
		}
	}
	switch {
	case len(numbers) == 1 && numbers[0] > 0 && numbers[0] <= 65535:
		return numbers[0], nil
	case len(numbers) == 0 && published:
		return 0, errors.New("it publishes no TCP port; publish one, or set network of the provider")
	}
	return 0, fmt.Errorf("it has the TCP ports %v; the label %s must name one", numbers, LabelPort)
}

// published returns the address at which the daemon's machine publishes a port of a container.
func (p *Provider) published(c *container, number int) (string, error) {
	for _, one := range c.Ports {
		if one.Type != "tcp" || one.PrivatePort != number || one.PublicPort <= 0 || one.PublicPort > 65535 {
			continue
		}
		ip, err := netip.ParseAddr(one.IP)
		host := ip.String()
		if err != nil || ip.IsUnspecified() || ip.IsLoopback() && p.d.Host.Socket() == "" {
			host = p.machine()
		}
		return net.JoinHostPort(host, strconv.Itoa(one.PublicPort)), nil
	}
	return "", fmt.Errorf("it does not publish the port %d; publish it, or set network of the provider", number)
}

// machine returns the host of the daemon.
func (p *Provider) machine() string {
	if p.d.Host.Socket() != "" {
		return "127.0.0.1"
	}
	return p.d.Host.URL().Hostname()
}
