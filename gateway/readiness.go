package gateway

import (
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/generation"
	"drawbridge/gateway/source"
)

// ready reports whether the gateway is ready. It becomes ready as server.ready demands, and stays so (O6).
func (p *publisher) ready(gen *generation.Generation, d *generation.Deployment) bool {
	if gen == nil || p.becameReady {
		return gen != nil
	}
	p.becameReady = !slices.ContainsFunc(d.APIs.Sources, func(s *source.Source) bool {
		switch d.Config.Server.Ready.APIs {
		case config.ReadyAll:
			return s.Document == nil
		case config.ReadyTried:
			return s.Document == nil && !s.Tried
		case config.ReadyAny:
		}
		return false
	})
	return p.becameReady
}
