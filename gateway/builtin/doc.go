// Package builtin makes calls of the gateway's own tools: search_tools and describe_tools, and calls of read_tool and call_tool that name no
// tool. Any other call of these two is that of the named tool.
//
// It hides how the answers of package toolsearch become the outcome of a call: its record, its metrics and its failure.
//
// The rule that must not be broken: a tool shows its caller nothing but what the caller may call, so that it needs no scope.
package builtin
