package generation

import (
	"errors"
	"fmt"
	"io/fs"

	"drawbridge/config"
	"drawbridge/gateway/catalog"
)

// lockOf reads tools.lock; nil if approval is off.
func (p *Deployer) lockOf(c *config.Config) (*config.Lock, error) {
	if c.Tools.Lock == "" || p.Unlocked {
		return nil, nil //nolint:nilnil // every tool is approved
	}
	l, err := config.ReadLock(c.Tools.Lock.String())
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; drawbridge lock --config FILE writes it", err)
	}
	if err == nil && l.Unknown() != "" {
		err = fmt.Errorf("%s: is of version %d, which does not approve %s as this version of drawbridge does; see what has changed with "+
			"\"drawbridge lock --config FILE --check\", then approve it with \"drawbridge lock --config FILE\"", c.Tools.Lock, l.Version, l.Unknown())
	}
	if err != nil {
		return nil, c.Wrong("tools.lock", err)
	}
	return l, nil
}

// approvedNames returns the names in tools.lock, which tools keep; none if there is no file that can be read. The command that writes the
// file needs them, too.
func approvedNames(c *config.Config) catalog.Published {
	if c.Tools.Lock == "" {
		return nil
	}
	l, err := config.ReadLock(c.Tools.Lock.String())
	if err != nil {
		return nil // lockOf reports it
	}
	names := catalog.Published{}
	for _, t := range l.Tools() {
		names[catalog.OperationKey{API: t.API, Method: t.Method, Path: t.Path}] = catalog.PublishedNames{Names: []string{t.Name}}
	}
	return names
}

// LockedTools returns the lock entries that would approve the tools of the generation.
func (gen *Generation) LockedTools() []config.LockedTool {
	var tools []config.LockedTool
	for _, t := range gen.Set.Catalog.All() {
		tools = append(tools, gen.ByTool[t.Name].Source.LockedTool(t))
	}
	return tools
}
