package gateway

import (
	"slices"

	"drawbridge/config"
	"drawbridge/gateway/source"
)

// ready reports whether the gateway is ready. It becomes ready as server.ready demands, and stays so (O6).
func (g *Gateway) ready(gen *generation, d *deployment) bool {
	if gen == nil || g.becameReady {
		return gen != nil
	}
	g.becameReady = !slices.ContainsFunc(d.apis.Sources, func(s *source.Source) bool {
		switch d.config.Server.Ready {
		case config.ReadyAll:
			return s.Document == nil
		case config.ReadyTried:
			return s.Document == nil && !s.Tried
		case config.ReadyAny:
		}
		return false
	})
	return g.becameReady
}
