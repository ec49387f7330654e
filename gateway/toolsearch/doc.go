// Package toolsearch has the four tools that stand in a list for all others: search_tools and describe_tools, by which a
// model finds tools, and read_tool and call_tool, by which it calls them. It knows their definitions, arguments and
// answers, and the instructions that tell a model of them. It neither calls tools nor knows of connections.
//
// A [Scope] is what one caller may find. Nothing is kept between two requests.
//
// The rule that must not be broken: no answer names a tool, an API or a tag that is not in the scope.
package toolsearch
