package discovery

import "cmp"

// Merger joins registrations of one service, each with its instances.
type Merger struct {
	all    []Target
	byName map[key]int // key → index in all
}

// Add adds a registration. It returns false, and leaves the registration out, if it is of a service that is known with another
// scheme, base path or document: an API has one of each.
func (m *Merger) Add(t *Target) bool {
	i, known := m.byName[t.key()]
	if !known {
		if m.byName == nil {
			m.byName = map[key]int{}
		}
		m.byName[t.key()] = len(m.all)
		m.all = append(m.all, *t)
		return true
	}
	have := &m.all[i]
	if have.Scheme != t.Scheme || have.BasePath != t.BasePath || have.Document != t.Document {
		return false
	}
	have.Instances = append(have.Instances, t.Instances...)
	have.Tags = append(have.Tags, t.Tags...)
	have.Revisions = append(have.Revisions, t.Revisions...)
	have.ContextPath = cmp.Or(have.ContextPath, t.ContextPath)
	return true
}

// Targets returns the services in the order in which they were first added; not nil.
func (m *Merger) Targets() []Target {
	if m.all == nil {
		return []Target{}
	}
	return m.all
}
