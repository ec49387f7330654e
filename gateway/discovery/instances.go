package discovery

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"weak"
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

// instances are the addresses of all services by the names of their APIs in lower case. Those of a service are there as long as it is
// served or somebody calls it: names come and go without end, and the addresses of an API that is back must be those that its client
// has. It is safe for concurrent use.
type instances struct {
	mu  sync.Mutex
	all map[string]weak.Pointer[Instances]
}

// of returns the addresses of a name.
func (all *instances) of(api string) *Instances {
	api = strings.ToLower(api)
	all.mu.Lock()
	defer all.mu.Unlock()
	if known := all.all[api].Value(); known != nil {
		return known
	}
	if all.all == nil {
		all.all = map[string]weak.Pointer[Instances]{}
	}
	i := &Instances{}
	all.all[api] = weak.Make(i)
	return i
}

// prune forgets the names whose addresses nobody has.
func (all *instances) prune() {
	all.mu.Lock()
	defer all.mu.Unlock()
	maps.DeleteFunc(all.all, func(_ string, i weak.Pointer[Instances]) bool { return i.Value() == nil })
}
