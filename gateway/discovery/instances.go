package discovery

import (
	"maps"
	"sync"
	"sync/atomic"
	"weak"

	"drawbridge/config"
)

// Instances are the addresses of the instances of a service, host:port. They change while the service is served.
type Instances struct{ list atomic.Pointer[[]string] }

// Load returns the addresses that are known now. They must not be modified.
func (i *Instances) Load() []string {
	if list := i.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (i *Instances) set(list []string) { i.list.Store(&list) }

// instances are the addresses of all services: of services and not of the names of their APIs, so that calls which carry the credential of
// one never go to another that has its name. Those of a service are there as long as it is served or somebody calls it: services come and
// go without end, and the addresses of one that is back must be those that its client has. It is safe for concurrent use.
type instances struct {
	mu  sync.Mutex
	all map[config.ServiceID]weak.Pointer[Instances]
}

// of returns the addresses of a service.
func (all *instances) of(service config.ServiceID) *Instances {
	all.mu.Lock()
	defer all.mu.Unlock()
	if known := all.all[service].Value(); known != nil {
		return known
	}
	if all.all == nil {
		all.all = map[config.ServiceID]weak.Pointer[Instances]{}
	}
	i := &Instances{}
	all.all[service] = weak.Make(i)
	return i
}

// prune forgets the services whose addresses nobody has.
func (all *instances) prune() {
	all.mu.Lock()
	defer all.mu.Unlock()
	maps.DeleteFunc(all.all, func(_ config.ServiceID, i weak.Pointer[Instances]) bool { return i.Value() == nil })
}
