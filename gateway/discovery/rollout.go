package discovery

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"
)

// rollout is what is known of the documents that the instances of a service have. While a new version is rolled out, they have different
// ones: the newest counts, and is the same one as long as an instance has it.
type rollout struct {
	instances map[string]*rolledOut // by address
	arrivals  int                   // the number of instances that came
	used      [sha256.Size]byte     // the digest of the document that counts; zero if it is not known
	several   int                   // how many different documents were reported
	kept      int                   // how many operations are kept to compare documents
}

// rolledOut is one instance.
type rolledOut struct {
	arrival  int // the order in which instances came
	document *instanceDocument
	unread   bool // its document is to be read
	failures int  // in a row
	retry    time.Time
	lacking  bool // it answers without a document
	repeats  int  // how often its document was read since instances behind the address have changed
}

// follow takes over the addresses that a service has now. again reports that instances were restarted. It reports whether there is one whose
// document is not known.
func (r *rollout) follow(addresses []string, again bool) (came bool) {
	if r.instances == nil {
		r.instances = map[string]*rolledOut{}
	}
	maps.DeleteFunc(r.instances, func(address string, _ *rolledOut) bool { return !slices.Contains(addresses, address) })
	for _, address := range addresses {
		switch one := r.instances[address]; {
		case one == nil:
			r.arrivals++
			r.instances[address] = &rolledOut{arrival: r.arrivals, unread: true}
			came = true
		case again:
			one.unread, one.failures, one.retry, one.repeats = true, 0, time.Time{}, 0
			came = true
		}
	}
	if came && len(addresses) > 1 { // those whose document nobody compares yet are compared with it
		for _, one := range r.instances {
			one.unread = one.unread || one.document == nil
		}
	}
	return came
}

// settle notes that the documents of all instances are read by others: there is one instance, from which the document in use comes.
func (r *rollout) settle() {
	for _, one := range r.instances {
		one.unread = false
	}
}

// forget notes that all documents are to be read.
func (r *rollout) forget() {
	for _, one := range r.instances {
		one.document, one.unread, one.failures, one.retry, one.lacking = nil, true, 0, time.Time{}, false
	}
	r.used = [sha256.Size]byte{}
}

// maxRead is the most documents that are read for a service at a time.
const maxRead = 8

// due returns the addresses whose documents are to be read now, those that did not fail and the newest first, and when the next is; zero if none is.
func (r *rollout) due(now time.Time) (addresses []string, next time.Time) {
	for address, one := range r.instances {
		switch {
		case !one.unread:
		case one.retry.After(now):
			if next.IsZero() || one.retry.Before(next) {
				next = one.retry
			}
		default:
			addresses = append(addresses, address)
		}
	}
	slices.SortFunc(addresses, func(a, b string) int {
		x, y := r.instances[a], r.instances[b]
		return cmp.Or(cmp.Compare(x.failures, y.failures), cmp.Compare(y.arrival, x.arrival))
	})
	return addresses[:min(len(addresses), maxRead)], next
}

// Times between attempts to read the document of an instance; the first doubles up to the longest.
const (
	firstReread   = time.Second
	longestReread = time.Minute
)

// read takes over the document of an instance; nil if it could not be read.
func (r *rollout) read(address string, d *instanceDocument, err error, now time.Time) {
	one := r.instances[address]
	if one == nil {
		return // it is gone
	}
	if err != nil {
		wait := min(firstReread<<min(one.failures, 8), longestReread)
		one.retry = now.Add(wait/2 + rand.N(wait/2+1))
		one.failures++
		one.lacking = errors.Is(err, errNoDocument)
		return
	}
	one.document, one.unread, one.failures, one.lacking = d, false, 0, false
}

// repeats are the times between the reads of a document at an address that stands for several instances, after these have changed: each read
// is one of the document of any of them.
var repeats = [...]time.Duration{2 * time.Second, 3 * time.Second, 10 * time.Second, 30 * time.Second}

// elsewhere notes that others read the document of an address, which is at another server, or of an instance that can't be told from others.
func (r *rollout) elsewhere(address string, shared bool, now time.Time) {
	one := r.instances[address]
	if one == nil {
		return
	}
	if one.unread = shared && one.repeats < len(repeats); one.unread {
		one.retry = now.Add(repeats[one.repeats])
		one.repeats++
	}
}

// documents returns the instances whose documents are known, those that came first before the others.
func (r *rollout) documents() (addresses []string) {
	for address, one := range r.instances {
		if one.document != nil {
			addresses = append(addresses, address)
		}
	}
	slices.SortFunc(addresses, func(a, b string) int { return cmp.Compare(r.instances[a].arrival, r.instances[b].arrival) })
	return addresses
}

// newest returns the document that counts: that of the highest version, and of several with the same version, or with versions that have no
// order, that of the newest instance. nil if none is known.
func (r *rollout) newest() (newest *instanceDocument) {
	for _, address := range r.documents() {
		d := r.instances[address].document
		if newest == nil {
			newest = d
		} else if order, ok := compareVersions(d.version, newest.version); !ok || order >= 0 {
			newest = d
		}
	}
	return newest
}

// choose decides which document counts. It reports whether that is another one than before.
func (r *rollout) choose() (moved bool) {
	newest := r.newest()
	if newest == nil || newest.digest == r.used {
		return false
	}
	r.used = newest.digest
	return true
}

// lacks reports whether each instance answers, and none has a document at its place any more.
func (r *rollout) lacks() bool {
	for _, one := range r.instances {
		if !one.lacking {
			return false
		}
	}
	return len(r.instances) > 0
}

// routes returns where the document that counts is read, and the instances that have an operation of it that others lack; nil for all.
func (r *rollout) routes() (documents []string, only map[uint64][]string) {
	all := r.distinct()
	if len(all) == 0 {
		return nil, nil
	}
	used := r.newest().digest
	documents = all[slices.IndexFunc(all, func(d sameDocument) bool { return d.digest == used })].addresses
	if len(all) == 1 {
		return documents, nil
	}
	return documents, operationsOfSome(slices.DeleteFunc(all, func(d sameDocument) bool { return d.operations == nil }))
}

// operationsOfSome returns the instances that have an operation, for each that some of the documents lack. Those of documents that are not
// in use count too: they are called until the one in use is read.
func operationsOfSome(all []sameDocument) map[uint64][]string {
	having := map[string][]string{} // by which of all have an operation: operations share what is the same
	only := map[uint64][]string{}
	for _, d := range all {
		for _, operation := range d.operations {
			if _, done := only[operation]; done {
				continue
			}
			which := make([]byte, len(all))
			for i := range all {
				if all[i].has(operation) {
					which[i] = 1
				}
			}
			if bytes.IndexByte(which, 0) < 0 {
				continue
			}
			addresses, known := having[string(which)]
			for i := 0; !known && i < len(all); i++ {
				if which[i] == 1 {
					addresses = append(addresses, all[i].addresses...)
				}
			}
			having[string(which)], only[operation] = addresses, addresses
		}
	}
	return only
}

// sameDocument is a document with the instances that have it.
type sameDocument struct {
	*instanceDocument
	addresses []string
}

// distinct returns the different documents that are known, in the order in which the newest instances of them came, the last first.
func (r *rollout) distinct() (all []sameDocument) {
	index := map[[sha256.Size]byte]int{}
	for _, address := range slices.Backward(r.documents()) {
		d := r.instances[address].document
		i, known := index[d.digest]
		if !known {
			i = len(all)
			index[d.digest] = i
			all = append(all, sameDocument{instanceDocument: d})
		}
		all[i].addresses = append(all[i].addresses, address)
	}
	return all
}

// maxDistinct is how many different documents of a service are compared by their operations.
const maxDistinct = 4

// share has instances with the same document share it, and returns how many operations are kept. Beyond maxDistinct, or if most are none,
// they are not.
func (r *rollout) share(most int) (kept int) {
	for i, d := range r.distinct() {
		if i >= maxDistinct || kept+len(d.operations) > most {
			d.operations = nil
		}
		kept += len(d.operations)
		for _, address := range d.addresses {
			r.instances[address].document = d.instanceDocument
		}
	}
	return kept
}

// versions returns the documents that instances have, the one that counts first; nil if there is one.
func (r *rollout) versions() (all []DocumentVersion) {
	distinct := r.distinct()
	if len(distinct) < 2 {
		return nil
	}
	newest := r.newest()
	for _, d := range distinct {
		v := DocumentVersion{Version: printable(d.version), Instances: len(d.addresses), InUse: d.digest == newest.digest}
		if v.InUse {
			all = slices.Insert(all, 0, v)
		} else {
			all = append(all, v)
		}
	}
	return all[:min(len(all), maxVersions)]
}

// maxVersions is how many documents of a service operators see.
const maxVersions = 10
