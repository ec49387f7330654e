package openapi

import (
	"net/url"
	"slices"
	"strings"

	"drawbridge/openapi/tree"
)

// maxHosts is how many hosts of a document are kept.
const maxHosts = 64

// hosts gathers the hosts that the document names for its readers: those of servers, of external documentation, and of the URLs
// in info, without ports. An error of the service that leads there tells nobody anything new.
func (c *compiler) hosts(all []found) (hosts []string) {
	add := func(at string) {
		if u, err := url.Parse(strings.TrimSpace(at)); err == nil && (u.Scheme == "http" || u.Scheme == "https") && len(hosts) < maxHosts {
			if host := strings.ToLower(u.Hostname()); host != "" && !slices.Contains(hosts, host) {
				hosts = append(hosts, strings.Clone(host))
			}
		}
	}
	servers := func(list *tree.Node) {
		for i, s := range listed(list) {
			if i == maxHosts {
				break
			}
			for name, variable := range s.variables.Members() {
				s.url = strings.ReplaceAll(s.url, "{"+name+"}", variable.Get("default").Text())
				if len(s.url) > maxServerURL {
					break
				}
			}
			add(s.url)
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

// maxServerURL is the length of a server's URL beyond which its variables are not replaced.
const maxServerURL = 2 << 10
