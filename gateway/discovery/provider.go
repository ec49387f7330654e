package discovery

import "context"

// Provider finds the services of a registry, or of a list that stands for one. Its implementations are the packages below this one;
// gateway/discovery/providers makes that of an item of the configuration.
type Provider interface {
	// Run calls update with all services, at first and after each change, until ctx ends. It asks again after an error by
	// itself. With an error there may be services, those that could be read; nil leaves the last ones in use. update does
	// not keep the slice, and may block.
	Run(ctx context.Context, update func([]Target, error))
}
