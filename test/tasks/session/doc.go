// Package session is a client's session at an MCP endpoint that counts what a model would pay for: the calls, and the tokens of their
// answers. The runner of test/tasks and its command-line client share it. The one rule: an answer is the text that a model reads, and
// nothing else of a result is used or counted.
package session
