package plan

import (
	"drawbridge/gateway/catalog"
	"drawbridge/openapi"
)

// Set is the result of a compilation: all tools of a configuration with their plans. It is immutable.
type Set struct {
	// Catalog has the definitions of all tools that are served.
	Catalog *catalog.Catalog
	// ByTool and ByOperation are the plans.
	ByTool      map[string]*Plan
	ByOperation map[*openapi.Operation]*Plan
	// Readable names the tools that are resources, in the order of the documents.
	Readable []string
	// Unapproved gives the reason why a tool is held back for lack of approval; HeldBack are these tools, sorted by name.
	Unapproved map[*openapi.Operation]string
	HeldBack   []*catalog.Tool
	// RenamedApprovals describes the tools that are approved under their former names.
	RenamedApprovals []string
	// Rejected are the settings that can't be applied, by name of the API.
	Rejected map[string]*Rejected
}
