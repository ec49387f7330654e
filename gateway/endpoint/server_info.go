package endpoint

import (
	"cmp"
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/mcp"
)

// serverInfo returns the identity of an endpoint, "" for /mcp. Members that its own info leaves out are those of server.info; an
// endpoint may also have a title without info.
func serverInfo(c *config.Config, name string) mcp.ServerInfo {
	own, title := (*config.Info)(nil), ""
	if n := slices.IndexFunc(c.Endpoints, func(e config.MCPEndpoint) bool { return e.Name == name }); n >= 0 {
		own, title = c.Endpoints[n].Info, c.Endpoints[n].Title
	}
	all := own.Over(c.Server.Info)
	info := mcp.ServerInfo{
		Name: cmp.Or(all.Name, "drawbridge"), Title: cmp.Or(title, all.Title, "Drawbridge"), Description: all.Description,
	}
	if all.Website != nil {
		info.Website = all.Website.String()
	}
	for _, icon := range all.Icons {
		info.Icons = append(info.Icons, mcp.Icon{Src: icon.Src, MIMEType: icon.MIMEType, Sizes: icon.Sizes, Theme: string(icon.Theme)})
	}
	return info
}
