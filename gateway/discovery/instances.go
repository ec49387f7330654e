package discovery

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"weak"

	"drawbridge/config"
)

// Instances are the addresses of the instances of a service, host:port. They change while the service is served.
type Instances struct {
	known atomic.Pointer[addresses]
	moved broadcast
	came  broadcast
}

// addresses are what is known of the instances at one moment.
type addresses struct {
	all       []string
	former    []string            // that are gone lately: the document may be from there
	documents []string            // those that have the document in use; nil if all may have it
	only      map[uint64][]string // by the hashes of operations that not all instances have
}

// Load returns the addresses that are known now. They must not be modified.
func (i *Instances) Load() []string {
	if known := i.known.Load(); known != nil {
		return known.all
	}
	return nil
}

// Documents returns the addresses at which the document is read: while the instances have different ones, those that have the newest.
func (i *Instances) Documents() []string {
	known := i.known.Load()
	if known == nil {
		return nil
	}
	if len(known.documents) > 0 {
		return known.documents
	}
	return known.all
}

// Having returns the addresses of the instances that have an operation, such as "GET /orders/{id}" as the document writes it; nil if all do.
func (i *Instances) Having(operation string) []string {
	known := i.known.Load()
	if known == nil || len(known.only) == 0 {
		return nil
	}
	return known.only[hashOperation(operation)]
}

// Own reports whether a host, host[:port] as in a URL, is that of an instance, at any port, or was so lately.
func (i *Instances) Own(host string) bool {
	known := i.known.Load()
	if known == nil {
		return false
	}
	same := func(address string) bool { return strings.EqualFold(hostname(address), hostname(host)) }
	return slices.ContainsFunc(known.all, same) || slices.ContainsFunc(known.former, same)
}

func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }

// Moved returns a channel that is closed when the document is another one than before.
func (i *Instances) Moved() <-chan struct{} { return i.moved.wait() }

// Came returns a channel that is closed when an instance has come.
func (i *Instances) Came() <-chan struct{} { return i.came.wait() }

// broadcast wakes all that wait. It is safe for concurrent use.
type broadcast struct {
	mu   sync.Mutex
	next chan struct{}
}

// wait returns a channel that the next raise closes.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *broadcast) raise() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

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
