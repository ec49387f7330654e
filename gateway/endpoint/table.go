package endpoint

// Table is the screening of one configuration and, once an API is served, its endpoints. A request gets both from the
// same set, so it never meets the hosts of one configuration and the tools of another (O3). It is immutable.
type Table struct {
	Screening *screening
	Main      *Endpoint            // /mcp, which has all tools; nil before the first API is served
	Named     map[string]*Endpoint // the other endpoints
	Manifest  *manifest            // nil if it is not served
}

// Lookup returns the endpoint of that name: /mcp if name is empty, or nil.
func (s *Table) Lookup(name string) *Endpoint {
	if name == "" {
		return s.Main
	}
	return s.Named[name]
}
