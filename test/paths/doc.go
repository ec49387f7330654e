// Package paths sends hostile values as path, query and header arguments through the gateway to real server stacks, and asks
// each of them which of its routes was reached and what arrived there. The one rule: the stacks are set up as permissively as
// they can be, so that what protects them is the gateway.
package paths
