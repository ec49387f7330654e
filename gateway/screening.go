package gateway

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/listener"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/sealkey"
)

// screening holds the settings that apply to a request before its target is known. It belongs to a generation, so that a
// request never meets the hosts of one configuration and the tools of another (O3). It is immutable.
type screening struct {
	config     *config.Config
	access     *admin.Access
	screen     func(http.Handler) http.Handler // admits the configured hosts and origins
	dispatcher *dispatcher
	keys       [][]byte // of sealed handles: the first seals, all open
}

// newScreening builds the screening of a configuration. The error reports all hosts, origins and keys that can't be used.
func (g *Gateway) newScreening(c *config.Config) (*screening, error) {
	keys, err := g.keysOf(c)
	if err != nil {
		return nil, err
	}
	f := &screening{config: c, keys: keys, access: admin.NewAccess(c.Admin.Token.Reveal(), c.Admin.Hosts(), c.Admin.Listen.Loopback())}
	if f.screen, err = mcp.Origins(mcp.OriginOptions{Hosts: c.Hosts(), Origins: c.Origins(), Loopback: c.Server.Listen.Loopback(), OnRefused: g.refuseForeign}); err != nil {
		return nil, err
	}
	if _, err := mcp.NewSealer(f.keys, "drawbridge"); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	f.dispatcher = &dispatcher{onPanic: g.panicked, next: f.screen(http.HandlerFunc(g.serve))}
	return f, nil
}

// keysOf returns the keys that seal handles: those of the configuration, that of its key file and, if the process started
// without either, one that it generates. The generated key still opens the handles that it has sealed when a later configuration
// brings keys. A key file is read once, because the gateway owns it.
func (g *Gateway) keysOf(c *config.Config) (keys [][]byte, err error) {
	for _, k := range c.Server.SealKeys {
		keys = append(keys, []byte(k.Reveal()))
	}
	if path := c.Server.SealKeyFile; path != "" && !g.o.Local {
		if g.fileKey == nil || g.fileKeyAt != path {
			key, err := sealkey.Load(path.String(), g.log)
			if err != nil {
				return nil, c.Wrong("server.seal_key_file", err)
			}
			g.fileKey, g.fileKeyAt = key, path
		}
		keys = append(keys, g.fileKey)
	}
	if first := &g.o.Config.Server; (len(first.SealKeys) > 0 || first.SealKeyFile != "") && len(keys) > 0 {
		return keys, nil
	}
	if g.ownKey == nil {
		g.ownKey = make([]byte, 32)
		rand.Read(g.ownKey) // never fails (crypto/rand)
	}
	return append(keys, g.ownKey), nil
}

// use applies a screening to everything that outlives generations. Only one goroutine at a time calls it.
func (g *Gateway) use(f *screening) {
	old := g.screening.Swap(f)
	if old == f {
		return
	}
	var trusted []netip.Prefix
	for _, n := range f.config.Server.TrustedProxies {
		trusted = append(trusted, n.Prefix())
	}
	g.clients.Trust(trusted)
	g.untrusted.Reset()
	g.mcpHandlers.tune(f.config, f.keys)
	if old != nil && slices.EqualFunc(old.keys, f.keys, bytes.Equal) {
		return
	}
	for _, rekey := range []func([][]byte) error{
		g.cursors.sealer.Rekey, g.links.Rekey, g.tasks.handles.Rekey, g.tasks.callbacks.Rekey, g.shared.rekey,
	} {
		if err := rekey(f.keys); err != nil { // newScreening has tried them
			g.log.Error("handles are still sealed with the keys of before", "error", err)
		}
	}
}

// Config returns the configuration in use: that of the last reload, except for settings that are read only at the start.
func (g *Gateway) Config() *config.Config { return g.fronting().config }

// fronting returns the screening that applies to requests now.
func (g *Gateway) fronting() *screening {
	if gen := g.current.Load(); gen != nil {
		return gen.screening
	}
	return g.screening.Load()
}

// currentEndpoints returns the endpoints that are served now, with the screening of requests to them.
func (g *Gateway) currentEndpoints() *endpointSet {
	if gen := g.current.Load(); gen != nil {
		return gen.endpointSet
	}
	return &endpointSet{screening: g.screening.Load()}
}

// screened admits requests for the hosts and origins of the configuration in use.
func (g *Gateway) screened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.fronting().screen(next).ServeHTTP(w, r) })
}

// enter serves a request to an endpoint in the current generation.
func (g *Gateway) enter(w http.ResponseWriter, r *http.Request, v *requestInfo) {
	f := g.screening.Load()
	if v.generation = g.current.Load(); v.generation != nil {
		f = v.generation.screening
	}
	v.id.given, v.slot, v.answer = forwardedRequestID(g.clients, r), listener.SlotOf(r), w.Header()
	f.dispatcher.enter(w, r, v)
}

// base returns the URL at which clients and services reach the gateway now, without a path of its own.
func (g *Gateway) base() string { return strings.TrimSuffix(g.fronting().config.Resource(), "/mcp") }
