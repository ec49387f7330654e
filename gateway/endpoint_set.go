package gateway

// endpointSet is the screening of one configuration and, once an API is served, its endpoints. A request gets both from the
// same set, so it never meets the hosts of one configuration and the tools of another (O3). It is immutable.
type endpointSet struct {
	screening *screening
	main      *endpoint            // /mcp, which has all tools; nil before the first API is served
	named     map[string]*endpoint // the other endpoints
	manifest  *manifest            // nil if it is not served
}

// endpoint returns the endpoint of that name: /mcp if name is empty, nil if there is none.
func (s *endpointSet) endpoint(name string) *endpoint {
	if name == "" {
		return s.main
	}
	return s.named[name]
}
