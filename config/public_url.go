package config

import (
	"strings"

	"drawbridge/openapi/origin"
)

// configuredURLs returns server.public_url, or server.public_urls.
func (c *Config) configuredURLs() []URL {
	if c.Server.PublicURL != nil {
		return []URL{*c.Server.PublicURL}
	}
	return c.Server.PublicURLs
}

// MainURL returns server.public_url, or the first of server.public_urls; nil if none is configured.
func (c *Config) MainURL() *URL {
	if urls := c.configuredURLs(); len(urls) > 0 {
		return &urls[0]
	}
	return nil
}

// PublicURLs returns the URLs by which clients reach the gateway, without a slash at the end: server.public_url or
// server.public_urls; else, if server.listen is a loopback address, http:// (https:// with server.tls) and that address,
// followed by the same with the other names of the loopback interface. The first one is the main one. It is empty if the
// URL is not known, which can only be when no issuer is configured.
func (c *Config) PublicURLs() []string {
	var urls []string
	for _, u := range c.configuredURLs() {
		urls = append(urls, u.trimmed())
	}
	if urls != nil || !c.Server.Listen.Loopback() || c.Server.Listen.Port() == "0" {
		return urls
	}
	for _, host := range loopbackNames(c.Server.Listen.URLHost()) {
		urls = append(urls, c.Server.Scheme()+"://"+host+":"+c.Server.Listen.Port())
	}
	return urls
}

// loopbackNames returns a loopback host, and the other names by which clients reach what listens there.
func loopbackNames(host string) []string {
	switch host {
	case "127.0.0.1", "[::1]":
		return []string{host, "localhost"}
	case "localhost":
		return []string{host, "127.0.0.1", "[::1]"}
	}
	return []string{host}
}

// publicURL returns the main one of [Config.PublicURLs]; "" if none is known.
func (c *Config) publicURL() string {
	if urls := c.PublicURLs(); len(urls) > 0 {
		return urls[0]
	}
	return ""
}

// Resource returns the resource identifier of the gateway (RFC 8707, RFC 9728): the main public URL followed by /mcp; ""
// if it is not known.
func (c *Config) Resource() string {
	if urls := c.Resources(); len(urls) > 0 {
		return urls[0]
	}
	return ""
}

// Resources returns the resource identifier under each of [Config.PublicURLs].
func (c *Config) Resources() []string {
	urls := c.PublicURLs()
	for i := range urls {
		urls[i] += "/mcp"
	}
	return urls
}

// EndpointResources returns the resource identifier of an endpoint of [Config.Endpoints] under each of [Config.PublicURLs].
func (c *Config) EndpointResources(name string) []string {
	urls := c.Resources()
	for i := range urls {
		urls[i] += "/" + name
	}
	return urls
}

// EndpointResource returns the first of [Config.EndpointResources]; "" if there is none.
func (c *Config) EndpointResource(name string) string {
	if base := c.Resource(); base != "" {
		return base + "/" + name
	}
	return ""
}

// SharesAudience reports whether a token that names one of the gateway's public URLs is accepted at all of them. The names
// of the loopback interface are names of one listener.
func (c *Config) SharesAudience() bool {
	return c.Auth != nil && c.Auth.SharedAudience || len(c.configuredURLs()) == 0
}

// PublicURLsByHost maps values of the Host header, in lower case, to the index in [Config.PublicURLs] of the URL that has
// this host. A URL without a port, or with the default port of its scheme, has two: one with the port and one without.
func (c *Config) PublicURLsByHost() map[string]int {
	byHost := map[string]int{}
	for i, u := range c.PublicURLs() {
		for _, host := range hostHeaders(u) {
			if _, taken := byHost[host]; !taken {
				byHost[host] = i
			}
		}
	}
	return byHost
}

// hostHeaders returns the values of the Host header that requests for a URL have.
func hostHeaders(text string) []string {
	o, ok := origin.Parse(text)
	if !ok {
		return nil
	}
	_, short, _ := strings.Cut(o.String(), "://")
	if long := o.Address(); long != short {
		return []string{short, long}
	}
	return []string{short}
}
