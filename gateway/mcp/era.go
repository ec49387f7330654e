package mcp

// Era is one of the two families of protocol revisions.
type Era uint8

// The eras. The zero value means that the era is not known.
const (
	Legacy Era = iota + 1 // 2024-11-05 to 2025-11-25: initialize, sessions
	Modern                // since 2026-07-28: stateless, _meta in every request
)
