// Package differential sends the same requests to the gateway and to a server of the official Go SDK that has the same
// tools, resources and prompts, and compares the answers. It holds no code but tests: requests stand in testdata, one
// conversation in each file, and differences.md lists where the two answer differently, with the clause of the
// specification that decides. The one rule: a difference without a row fails, and so does a row without a difference.
package differential
