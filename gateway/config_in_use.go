package gateway

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
	"drawbridge/gateway/sealkey"
)

// configInUse holds the parts of a configuration that apply to requests whatever is served. It is immutable.
type configInUse struct {
	config    *config.Config
	access    *admin.Access
	keys      [][]byte        // of sealed handles: the first seals, all open
	endpoints *endpoint.Table // none, with the screening
}

// newConfigInUse returns the parts of a configuration. The error reports all hosts, origins and keys that can't be used.
func (g *Gateway) newConfigInUse(c *config.Config) (*configInUse, error) {
	keys, err := g.keysOf(c)
	if err != nil {
		return nil, err
	}
	screening, err := g.server.NewScreening(c)
	if err != nil {
		return nil, err
	}
	if _, err := mcp.NewSealer(keys, "drawbridge"); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	return &configInUse{
		config: c, keys: keys, access: admin.NewAccess(c.Admin.Token.Reveal(), c.Admin.Hosts(), c.Admin.Listen.Loopback()),
		endpoints: &endpoint.Table{Screening: screening},
	}, nil
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

// use applies a configuration to everything that outlives generations. Only one goroutine at a time calls it.
func (g *Gateway) use(next *configInUse) {
	old := g.inUse.Swap(next)
	if old == next {
		return
	}
	var trusted []netip.Prefix
	for _, n := range next.config.Server.TrustedProxies {
		trusted = append(trusted, n.Prefix())
	}
	g.clients.Trust(trusted)
	g.untrusted.Reset()
	g.mcpHandlers.Reload(next.config, next.keys)
	if old != nil && slices.EqualFunc(old.keys, next.keys, bytes.Equal) {
		return
	}
	for _, rekey := range []func([][]byte) error{
		g.cursors.Sealer.Rekey, g.links.Rekey, g.tasks.Handles.Rekey, g.tasks.Callbacks.Rekey, g.shared.rekey,
	} {
		if err := rekey(next.keys); err != nil { // newConfigInUse has tried them
			g.log.Error("handles are still sealed with the previous keys", "error", err)
		}
	}
}

// configInUse returns the configuration that applies to requests now: that of the generation that serves them, if there is one.
func (g *Gateway) configInUse() *configInUse {
	if gen := g.current.Load(); gen != nil {
		return gen.inUse
	}
	return g.inUse.Load()
}

// currentEndpoints returns the endpoints that are served now, with the screening of requests to them.
func (g *Gateway) currentEndpoints() *endpoint.Table {
	if gen := g.current.Load(); gen != nil {
		return gen.Table
	}
	return g.inUse.Load().endpoints
}

// Config returns the configuration in use: that of the last reload, except for settings that are read only at the start.
func (g *Gateway) Config() *config.Config { return g.configInUse().config }

// base returns the URL at which clients and services reach the gateway now, without a path of its own.
func (g *Gateway) base() string { return strings.TrimSuffix(g.Config().Resource(), "/mcp") }
