package prompt

import "drawbridge/gateway/resource"

// View is what prompts need of an endpoint. It is immutable.
type View struct {
	*resource.View
	Prompts []*Prompt // in configuration order
}
