package generation

import (
	"fmt"

	"drawbridge/config"
	"drawbridge/gateway/admin"
	"drawbridge/gateway/endpoint"
	"drawbridge/gateway/mcp"
)

// RequestSettings are the parts of a configuration that apply to requests whatever is served. They are immutable.
type RequestSettings struct {
	Config *config.Config
	Access *admin.Access
	Keys   [][]byte        // of sealed handles: the first seals, all open
	Table  *endpoint.Table // no endpoints, with the screening
	Hash   uint64          // of the configuration, see [config.Config.Hash]
}

// newRequestSettings returns the parts of a configuration. The error reports all hosts, origins and keys that can't be used.
func (p *Deployer) newRequestSettings(c *config.Config) (*RequestSettings, error) {
	keys, err := p.SealKeys(c)
	if err != nil {
		return nil, err
	}
	table, err := p.NewTable(c)
	if err != nil {
		return nil, err
	}
	if _, err := mcp.NewSealer(keys, "drawbridge"); err != nil {
		return nil, fmt.Errorf("server.seal_keys: %w", err)
	}
	return &RequestSettings{
		Config: c, Keys: keys, Access: admin.NewAccess(c.Admin.Token.Reveal(), c.Admin.Hosts(), c.Admin.Listen.Loopback()), Table: table,
		Hash: c.Hash(keys),
	}, nil
}
