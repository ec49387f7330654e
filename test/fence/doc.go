// Package fence holds no code, only the test that keeps the arrows between the project's packages and the
// third-party modules that each of them may import. The table stands in docs/architecture.md; the one rule:
// a new arrow or a new import is a design change, so write an ADR first and then a row here.
package fence
