package gateway

// promptView is what prompts need of an endpoint. It is immutable.
type promptView struct {
	*resourceView
	prompts []*prompt // in configuration order
}
