package main

import "fmt"

const (
	// longestFile is the most lines that a file may have.
	longestFile = 600
	// gatewayLines is the most lines of package gateway, which only wires the others together.
	gatewayLines = 3000
	// largestSetOf is the most files of a package that may need each other, for packages without a limit of their own.
	largestSetOf = 15
)

// largestSets are the limits of the packages whose files have long needed each other. A set that grows past its limit is a reason to
// look at what joins the files, and to raise the limit if they belong together: files are not cut or merged for its sake.
var largestSets = map[string]int{
	"auth":             19,
	"auth/authtest":    18,
	"auth/credential":  19,
	"config":           17,
	"gateway/call":     30,
	"gateway/console":  18,
	"gateway/endpoint": 16,
	"gateway/mcp":      31,
	"gateway/plan":     16,
	"gateway/source":   22,
	"gateway/upstream": 18,
	"openapi":          49,
	"openapi/schema":   28,
}

// exceeded tells which limits a package exceeds, one a line.
func (m measured) exceeded() []string {
	var all []string
	if m.longest.lines > longestFile {
		all = append(all, fmt.Sprintf("%s/%s has %d lines, more than %d", m.name, m.longest.name, m.longest.lines, longestFile))
	}
	if m.name == "gateway" && m.lines > gatewayLines {
		all = append(all, fmt.Sprintf("gateway has %d lines, more than %d", m.lines, gatewayLines))
	}
	limit, ok := largestSets[m.name]
	if !ok {
		limit = largestSetOf
	}
	if len(m.set) > limit {
		all = append(all, fmt.Sprintf("%d files of %s need each other, more than %d", len(m.set), m.name, limit))
	}
	return all
}
