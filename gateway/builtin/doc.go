// Package builtin implements the gateway's own tools as [call.Tool]s: search_tools, describe_tools, read_file and upload_file, and calls of
// read_tool and call_tool without a valid tool name. All other calls of these two are calls of the named tool.
//
// It hides how the answers of package toolsearch become the outcome of a call, with audit record, metrics and failure.
//
// The rule that must not be broken: a built-in tool shows only tools that the caller may call, and only files of the caller, so that it
// needs no scope itself.
package builtin
