package openapi

import (
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// maxHosts is the maximum number of hosts that are kept for a document.
const maxHosts = 64

// hosts collects the hosts that the document names for its readers: those of servers, of external documentation, and of
// the URLs in info, without ports. Since the document publishes them, they need not be removed from errors of the service.
func (c *compiler) hosts(all []found) (hosts []string) {
	add := func(at string) {
		if u, err := url.Parse(strings.TrimSpace(at)); err == nil && (u.Scheme == "http" || u.Scheme == "https") && len(hosts) < maxHosts {
			if host := strings.ToLower(u.Hostname()); host != "" && !slices.Contains(hosts, host) {
				hosts = append(hosts, strings.Clone(host))
			}
		}
	}
	seen := map[*tree.Node]bool{} // lists that several operations share
	servers := func(list *tree.Node) {
		if list.Len() == 0 || seen[list] {
			return
		}
		seen[list] = true
		for i, at := range list.Items() {
			if i == maxHosts {
				break
			}
			add(withDefaults(at.Get("url").Text(), at.Get("variables")))
		}
	}
	root := c.set.Root()
	if host := root.Get("host").Text(); c.doc.dialect == swagger2 && host != "" {
		add("https://" + host)
	}
	servers(root.Get("servers"))
	info := root.Get("info")
	for _, at := range []*tree.Node{info.Get("termsOfService"), info.Get("contact").Get("url"), info.Get("license").Get("url"), root.Get("externalDocs").Get("url")} {
		add(at.Text())
	}
	for _, tag := range root.Get("tags").Items() {
		add(tag.Get("externalDocs").Get("url").Text())
	}
	for _, f := range all {
		if len(hosts) == maxHosts {
			break
		}
		servers(f.item.Get("servers"))
		servers(f.node.Get("servers"))
		add(f.node.Get("externalDocs").Get("url").Text())
	}
	return hosts
}

// withDefaults returns the URL of a server with the defaults of its variables. A long URL is returned unchanged, and a
// long default is not filled in.
func withDefaults(at string, variables *tree.Node) string {
	const (
		longestURL     = 2 << 10
		longestDefault = 253 // of a host
		mostVariables  = 20
	)
	n := 0
	for name, variable := range variables.Members() {
		value := variable.Get("default").Text()
		if n++; n > mostVariables || len(at) > longestURL {
			break
		}
		if len(value) <= longestDefault {
			at = strings.ReplaceAll(at, "{"+name+"}", value)
		}
	}
	return at
}
